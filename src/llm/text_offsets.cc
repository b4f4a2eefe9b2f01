#include "llm/text_offsets.h"

#include <algorithm>

#include "base/cut_text.h"

namespace sallyport::llm {

void TextOffsets::take(const core::PassedText& passed) {
  for (const core::TextPiece& piece : passed.pieces) {
    const std::size_t length = std::min<std::size_t>(piece.end - piece.start, waiting_.size());
    const std::uint64_t in = in_ + code_points(std::string_view(waiting_).substr(0, length));
    const std::uint64_t out = out_ + code_points(piece.text);
    if (piece.replaced) regions_.push_back({in_, in, out_, out});
    in_ = in;
    out_ = out;
    waiting_.erase(0, length);
  }
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> TextOffsets::mapped(
    std::uint64_t start, std::uint64_t end) const {
  const auto place = [&](std::uint64_t at, bool is_end) {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    for (const Region& region : regions_) {
      if (at <= region.start) break;
      if (at < region.end) return is_end ? region.out_end : region.out_start;
      in = region.end;
      out = region.out_end;
    }
    return out + (at - in);
  };
  for (const Region& region : regions_) {
    if (start >= region.start && end <= region.end && start < end) return std::nullopt;
  }
  return std::pair{place(start, false), place(end, true)};
}

}  // namespace sallyport::llm
