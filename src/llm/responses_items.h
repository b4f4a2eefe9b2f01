// The items of OpenAI Responses: which of them are client calls, and which texts they hold.
// Requests, events and whole answers contain the same items.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/json_splice.h"
#include "llm/message_door.h"
#include "sallyport/json.h"

namespace sallyport::llm {

// Returns the type. A message and a reference to an item may omit it.
std::string_view item_type(const json::value& item);

// A call that the client executes: `function_call`, `shell_call` without a container, ...
bool is_client_call(const json::value& item);
// True for an event about the arguments of such a call.
bool is_call_event(std::string_view type);

// The id that results name, and the name of the tool.
std::string call_id_of(const json::value& item);
std::string tool_of(const json::value& item);

// The call of an item. No value: its arguments are not JSON. `raw` is the item as received.
std::optional<ProposedCall> read_call(const json::value& item, std::string_view raw);
// Replaces the arguments of a call. `pointer` is the path of its item.
void write_arguments(Splice& splice, const std::string& pointer, const json::value& item,
                     const json::value& input);

// The arguments of a call as delta events carry them. No value: no event does.
struct StreamedArguments {
  std::string delta_event{};  // its type
  std::string done_event{};
  std::string done_member{};  // member of the `.done` event
  std::string text{};
};
std::optional<StreamedArguments> streamed_arguments(const json::value& item);

// Summaries and contents are both parts of one item, and so are stdout and stderr.
inline constexpr std::uint64_t kSummaryPart = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kErrorPart = std::uint64_t{1} << 33;

// The item index of texts outside items.
inline constexpr std::uint64_t kNoItem = ~std::uint64_t{0};

// One text of an item that is not a client call.
struct ItemText {
  std::string pointer{};  // path inside the item
  std::string_view text{};
  ChannelId channel{};
  bool fixed = false;  // a redaction acts as block (MP-44)
};
struct ItemTexts {
  std::vector<ItemText> texts{};
  std::vector<std::string> unknown{};  // types of the item or of its parts
};
// The texts of an item, in order, as views into `item`. Opaque bytes, media, ids, words of the API,
// annotations and log probabilities are left out.
ItemTexts texts_of(const json::value& item, std::uint64_t index);
// The texts in unknown members of a client call.
ItemTexts unknown_texts_of_call(const json::value& item, std::uint64_t index);
// Adds the texts of one part of a message or of reasoning. `pointer` is its path in the item.
void add_part_texts(ItemTexts& out, const json::value& part, const std::string& pointer,
                    std::uint64_t index, std::uint64_t number);
// Adds every string of a value that the adapter does not know as a fixed text.
void add_unknown_texts(ItemTexts& out, const json::value& value, const std::string& pointer,
                       std::uint64_t index);

// A message of the assistant. `parts` is the JSON of its contents.
std::string message_item(std::string_view id, std::string_view status, std::string_view parts);
std::string text_part(std::string_view text);
std::string refusal_part(std::string_view text);
// A JSON array of JSON texts.
std::string json_list(const std::vector<std::string>& elements);

}  // namespace sallyport::llm
