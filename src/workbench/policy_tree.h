// A policy text as a tree, to find the place of a part and to change a part.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "config/yaml.h"
#include "core/plan/policy_text.h"
#include "sallyport/json.h"

namespace sallyport::app {

class PolicyTree {
 public:
  // `file`: how places name the text. The text is one that loads.
  static Result<PolicyTree> read(const core::PolicyText& text, const std::string& file);

  // The whole policy, with what it takes over from the policy that it extends. As a text this
  // loads with the same hash.
  const json::value& value() const { return value_; }

  // `file:line:column` of the part that the JSON Pointer leads to, in the text that it comes from;
  // of the whole text where there is no such part.
  std::string place(std::string_view pointer) const;
  std::string place_of_rule(std::string_view id) const;

  // The place of the rule in the list of rules. No value: there is no such rule.
  std::optional<std::size_t> rule_index(std::string_view id) const;

  // The part, or null.
  const json::value* at(std::string_view pointer) const;

 private:
  struct File {
    config::YamlNode root{};
    std::string name{};
  };
  File own_;
  std::optional<File> base_;
  json::value value_;
};

}  // namespace sallyport::app
