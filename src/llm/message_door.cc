#include "llm/message_door.h"

#include <array>

namespace sallyport::llm {

std::string_view to_string(ChannelKind kind) {
  static constexpr std::array<std::string_view, 6> kWords{
      "text", "reasoning", "refusal", "provider_call", "provider_result", "whole"};
  return kWords.at(static_cast<std::size_t>(kind));
}

}  // namespace sallyport::llm
