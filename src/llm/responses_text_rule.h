// The kinds of text that OpenAI Responses sends in deltas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "llm/responses_items.h"

namespace sallyport::llm {

struct TextRule {
  std::string_view base;    // `output_text` of `response.output_text.delta`
  std::string_view member;  // member of the `.done` event
  std::string_view place;   // its place in the item
  std::string_view index;   // member with its number; empty: an item has one such text
  ChannelKind kind;
  bool part;  // it is in a part of a message or of reasoning

  // The rule for an event that begins, continues or ends such a text. Null: another event.
  static const TextRule* of(std::string_view event_type);
  // The rule for a text of an item. Null: no deltas carry such a text.
  static const TextRule* carrying(const ItemText& text);

  // The path of the text inside the item.
  std::string pointer(std::uint64_t number) const;
};

}  // namespace sallyport::llm
