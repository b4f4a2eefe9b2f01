// The kinds of text that come in deltas of OpenAI Responses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "llm/responses_items.h"

namespace sallyport::llm {

struct TextRule {
  std::string_view base;    // `output_text` of `response.output_text.delta`
  std::string_view member;  // of the `.done` event
  std::string_view place;   // where the item has it
  std::string_view index;   // member with its number; empty: the item has only one
  ChannelKind kind;
  bool part;  // it stands in a part of a message or of reasoning

  // Of an event that begins, continues or ends such a text. Null: it is another one.
  static const TextRule* of(std::string_view event_type);
  // Null: no deltas carry such a text.
  static const TextRule* carrying(const ItemText& text);

  // Inside the item.
  std::string pointer(std::uint64_t number) const;
};

}  // namespace sallyport::llm
