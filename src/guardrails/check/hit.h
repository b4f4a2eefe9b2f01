// What a check found, and which checks ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

struct Hit {
  std::size_t check_index = 0;
  std::string check{};
  std::optional<std::string> check_id{};
  Stage stage = Stage::Output;
  CheckType rule_type = CheckType::Regex;
  Action action = Action::Block;  // effective: `Log` in advisory mode
  Action on_fail = Action::Block;
  Severity severity = Severity::Medium;
  std::string reason_code{};
  std::optional<std::string> replacement{};  // as configured; effective for a block of a stream
  std::optional<std::string> entry{};
  std::optional<std::string> matched{};  // at most 200 bytes, as in the view
  std::optional<std::uint64_t> start{};
  std::optional<std::uint64_t> end{};
  std::optional<std::string> view{};
  std::optional<std::string> path{};
  std::optional<std::uint64_t> at{};  // streams only

  bool operator==(const Hit&) const = default;
};
// GR-18; `at` only if it is set.
json::object to_json(const Hit& hit);

struct Coverage {
  std::size_t check_index = 0;
  std::string check{};
  std::optional<std::string> skipped{};  // the reason: `stage`, `caller`, `no_tool`, `tool`, `args`
  bool decode_truncated = false;

  bool operator==(const Coverage&) const = default;
};
// GR-62.
json::object to_json(const Coverage& coverage);

std::string_view reason_code_of(CheckType type);
// GR-17.
std::string_view default_replacement(Stage stage, Action action);

}  // namespace sallyport::guardrails
