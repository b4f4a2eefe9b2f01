// Reads the conditions of rules in policies: `when`, `unless` and `only`. Also reads values that
// all sections about rules share.
//
//   when: {class: fs.delete, recursive: true, outside: workspace}
#pragma once

#include "config/mapping.h"
#include "rules/rule.h"

namespace sallyport::policy {

inline constexpr std::size_t kLongestRuleName = 512;
inline constexpr std::size_t kLongestPattern = 4'096;

// One value, or a list that is not empty. An empty list would match nothing.
json::object one_or_list(json::object item, std::size_t most);
config::ReadValue one_or_more(std::size_t most, config::ReadValue read);
config::ReadValue names_into(std::vector<std::string>& out);
config::ReadValue truth_into(std::optional<bool>& out);

// A mapping of conditions that must all hold, or a list of mappings, one of which must hold.
json::object when_schema();
config::ReadValue read_when(std::vector<rules::Conditions>& out);

// The alternatives of `only`: conditions, or a list of constraints on the input.
json::object alternatives_schema();
config::ReadValue read_alternatives(std::vector<rules::Alternative>& out);

}  // namespace sallyport::policy
