#include "core/plan/stream_guard.h"

#include <algorithm>
#include <array>

namespace sallyport::core {

std::string_view to_string(TextStage stage) {
  static constexpr std::array<std::string_view, 4> kWords{"input", "output", "tool_use",
                                                          "tool_output"};
  return kWords.at(static_cast<std::size_t>(stage));
}

std::string PassedText::text() const {
  std::string text;
  for (const TextPiece& piece : pieces) text += piece.text;
  return text;
}

bool PassedText::changed() const {
  return block.has_value() || std::ranges::any_of(pieces, &TextPiece::replaced);
}

Result<std::shared_ptr<const StreamGuard>> StreamGuard::for_json_answers() const {
  return std::shared_ptr<const StreamGuard>();
}

}  // namespace sallyport::core
