// Ready-made documents inside the program: `gallery:secrets`.
//
//   const Preset* found = preset("secrets");
//   auto document = read_document(found->document);
#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/document/document.h"
#include "guardrails/document/names.h"

namespace sallyport::guardrails {

struct Preset {
  // The translated texts.
  struct Words {
    std::string name;
    std::string description;
    std::vector<std::string> known_misses;
    std::vector<std::string> known_false_alarms;
  };

  std::string id;
  std::string version;
  std::string digest;  // the document's config_hash
  std::vector<Stage> stages;
  std::vector<CheckType> check_types;
  std::vector<Action> actions;
  std::vector<std::string> languages;
  Words english;
  Words ukrainian;
  std::string_view document;  // JSON
  std::string_view cases;     // JSON, for case_runner.h

  const Words& words(Locale locale) const {
    return locale == Locale::Ukrainian ? ukrainian : english;
  }
};

std::span<const Preset> gallery();
const Preset* preset(std::string_view id);  // null: there is none of that name

// The trust metadata of GR-69.
json::object to_json(const Preset& preset, Locale locale);

}  // namespace sallyport::guardrails
