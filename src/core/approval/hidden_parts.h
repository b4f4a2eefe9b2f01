// The parts of a call's input that redaction removes, without their content: how many bytes, where
// and why. People see this before they answer, because the hidden part may be what runs (AP-38).
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/redactor.h"
#include "sallyport/classification.h"
#include "sallyport/verdict.h"

namespace sallyport::core {

struct HiddenPart {
  std::string path;      // JSON Pointer into the input
  std::string detector;  // `private_key_pem`, `member_name`, ...
  std::uint64_t bytes = 0;
  std::uint64_t of = 0;               // size of the text that contains it
  std::optional<std::uint64_t> at{};  // its first byte there; no value: the place is unknown
  bool command = false;               // it was part of what a tool executes

  // "`command`: 37 of 120 bytes hidden at byte 5 (private_key_pem)"
  std::string text() const;

  bool operator==(const HiddenPart&) const = default;
};

// Empty: the record holds the whole input. An input that the redactor cannot read is hidden whole.
// At most 64 are listed; the last one then stands for the rest.
std::vector<HiddenPart> hidden_parts(const Redactor& redactor, const json::value& input,
                                     const Classification& tool);

json::array hidden_json(const std::vector<HiddenPart>& parts);
std::vector<HiddenPart> hidden_in(const json::value* stored);

// False if the input cannot hold a command. Then there is no need to search for hidden parts.
bool may_hold_command(const json::value& input, const Classification& tool);
bool any_command(const std::vector<HiddenPart>& parts);
// One finding for each hidden part of a command: check `redacted_command`.
std::vector<Finding> redacted_commands(const std::vector<HiddenPart>& parts);

}  // namespace sallyport::core
