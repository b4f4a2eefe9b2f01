// JSON of providers and clients, and the strings inside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "llm/json_splice.h"
#include "llm/message_door.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::llm {

// `parse_json`, but a lone surrogate escape is read as U+FFFD (MP-13). Errors are those of
// `parse_json`.
Result<ParsedJson> read_wire_json(std::string_view text, const JsonLimits& limits = {});

// Null: absent, or of another type.
const json::value* member_of(const json::value& object, std::string_view name);
const json::object* object_in(const json::value& object, std::string_view name);
const json::array* array_in(const json::value& object, std::string_view name);
// Empty: absent, or no string.
std::string_view text_in(const json::value& object, std::string_view name);
std::optional<std::uint64_t> count_in(const json::value& object, std::string_view name);

// Replaces a member of the object that `pointer` leads to, or adds it where there is none.
void set_member(Splice& edits, const json::value& object, const std::string& pointer,
                std::string_view name, const std::string& json);

// True if the member holds bytes that only the provider reads. `parent` is the object around it.
bool is_opaque(std::string_view name, const json::object& parent);

// Whose strings they are, and what becomes of a redaction.
enum class Leaves : std::uint8_t {
  Payload,  // arguments of a call: each is looked at and redacted in place
  Known,    // of the API: redacted in place, but for `type` and ids, which are no texts
  Unknown,  // not of the API as we know it: a redaction acts as block (MP-44)
};

// What the checks of a door say to the strings of a value.
struct CheckedLeaves {
  Splice edits{};                          // for the text in which the value stands
  std::optional<core::TextBlock> block{};  // nothing behind it was looked at
};

// Each string of `value` as a text of its own; opaque ones only of a payload. `pointer` leads to
// the value.
CheckedLeaves check_leaves(MessageDoor& door, const ChannelId& channel, const json::value& value,
                           const std::string& pointer, Leaves leaves);

// A redaction of a text that cannot be changed in place, as a block.
core::TextBlock block_instead(const core::PassedText& passed);

}  // namespace sallyport::llm
