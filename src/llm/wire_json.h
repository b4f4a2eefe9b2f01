// JSON of providers and clients, and the strings inside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/json_splice.h"
#include "llm/message_door.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::llm {

// `parse_json`, but a lone surrogate escape is read as U+FFFD (MP-13). Errors are those of
// `parse_json`.
Result<ParsedJson> read_wire_json(std::string_view text, const JsonLimits& limits = {});

// Null: absent or of another type.
const json::value* member_of(const json::value& object, std::string_view name);
const json::object* object_in(const json::value& object, std::string_view name);
const json::array* array_in(const json::value& object, std::string_view name);
// Empty: absent or not a string.
std::string_view text_in(const json::value& object, std::string_view name);
// A whole number, however it is written: `3.0` is 3. No value: another number. A count over
// `kMostCount`, the largest number that an entry can hold, is `kMostCount`.
inline constexpr std::uint64_t kMostCount = (std::uint64_t{1} << 53) - 1;
std::optional<std::uint64_t> count_in(const json::value& object, std::string_view name);

// Adds the ids in members of this name at any depth, each once, at most 256.
void collect_ids(const json::value& value, std::string_view member, std::vector<std::string>& ids);

// Replaces a member of the object at `pointer`, or adds it.
void set_member(Splice& edits, const json::value& object, const std::string& pointer,
                std::string_view name, const std::string& json);

// True if the member holds bytes that only the provider reads. `parent` is the object around it.
bool is_opaque(std::string_view name, const json::object& parent);

// The origin of strings, which determines the effect of a redaction.
enum class Leaves : std::uint8_t {
  Payload,  // arguments of a call: each is checked and redacted in place
  Known,    // of the API: redacted in place, except `type` and ids, which are not texts
  Unknown,  // not known to be of the API: a redaction acts as a block (MP-44)
};

// The result of checking the strings of a value.
struct CheckedLeaves {
  Splice edits{};                          // for the text that contains the value
  std::optional<core::TextBlock> block{};  // nothing after it was checked
};

// Checks each string of `value` as a separate text; opaque ones only in a payload. `pointer` is the
// path of the value.
CheckedLeaves check_leaves(MessageDoor& door, const ChannelId& channel, const json::value& value,
                           const std::string& pointer, Leaves leaves);

// Turns a redaction of a text that cannot be changed in place into a block.
core::TextBlock block_instead(const core::PassedText& passed);

}  // namespace sallyport::llm
