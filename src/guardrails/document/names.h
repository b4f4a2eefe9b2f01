// Names of the parts of guardrails for people. Codes and labels are never translated.
#pragma once

#include <cstdint>
#include <string_view>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

enum class Locale : std::uint8_t { English, Ukrainian };

// Ukrainian for `uk`, `uk-UA` and `uk_UA.UTF-8`; English for every other name (GR-70).
Locale locale_named(std::string_view name);

struct Name {
  std::string_view name;
  std::string_view description;

  bool operator==(const Name&) const = default;
};

Name name_of(Stage stage, Locale locale);
Name name_of(CheckType type, Locale locale);
Name name_of(Action action, Locale locale);

// Guardrails as one entry in a list of capabilities of an agent.
struct Capability {
  std::string_view id;
  std::string_view name;
  std::string_view description;
  std::string_view category;
  std::string_view icon;  // a name of the usual icon sets
};
Capability capability(Locale locale);

// All of the above as one object: `capability`, `stages`, `types`, `actions` and `reason_codes`.
json::object names_json(Locale locale);

}  // namespace sallyport::guardrails
