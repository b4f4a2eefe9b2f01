#include "llm/json_strings.h"

#include "llm/json_splice.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

void JsonStrings::feed(std::string_view text) {
  for (const char c : text) {
    if (escape_begins_) {
      escape_begins_ = false;
      escape_left_ = c == 'u' ? 4 : 0;
      marks_.back().end = at_ + 1 + escape_left_;
    } else if (escape_left_ > 0) {
      --escape_left_;
    } else if (c == '"') {
      in_string_ = !in_string_;
      marks_.push_back({at_, at_ + 1, true});
    } else if (c == '\\' && in_string_) {
      escape_begins_ = true;
      marks_.push_back({at_, at_ + 2, false});
    }
    ++at_;
  }
}

bool JsonStrings::is_inside(std::uint64_t start, std::uint64_t end) const {
  bool in_string = begins_in_string_;
  for (const Mark& mark : marks_) {
    if (mark.start >= end) break;
    if (mark.quote && mark.start >= start) return false;
    if (mark.quote) in_string = !in_string;
    if (mark.start < start && mark.end > start) return false;
    if (mark.start < end && mark.end > end) return false;
  }
  return in_string;
}

void JsonStrings::forget(std::uint64_t until) {
  while (!marks_.empty() && marks_.front().end <= until) {
    if (marks_.front().quote) begins_in_string_ = !begins_in_string_;
    marks_.pop_front();
  }
}

void JsonStrings::fit(core::PassedText& passed) {
  for (std::size_t i = 0; i < passed.pieces.size(); ++i) {
    core::TextPiece& piece = passed.pieces[i];
    if (!piece.replaced) continue;
    if (!is_inside(piece.start, piece.end)) {
      core::PassedText hit;
      hit.pieces.push_back(std::move(piece));
      passed.block = block_instead(hit);
      passed.pieces.resize(i);
      break;
    }
    const std::string quoted = json_string(piece.text);
    piece.text = quoted.substr(1, quoted.size() - 2);
  }
  if (!passed.pieces.empty()) forget(passed.pieces.back().end);
}

}  // namespace sallyport::llm
