#include "net/sse_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "net/line_end.h"

namespace sallyport::net {

namespace {

constexpr std::size_t kTail = 256;                  // enough to look for an id in
constexpr std::size_t kLongestKept = 64u << 10;     // memory that waits for the next line
constexpr std::size_t kLongestId = 1024;            // of an event, and of the name of its kind
constexpr std::string_view kMark = "\xEF\xBB\xBF";  // some write it at the beginning of a text

void keep_tail(std::string& tail, std::string_view more) {
  tail.append(more.substr(more.size() - std::min(more.size(), kTail)));
  if (tail.size() > kTail) tail.erase(0, tail.size() - kTail);
}

}  // namespace

// Returns the next line, valid until the next call or `feed`. Lines that came whole are not copied.
std::optional<std::string_view> SseParser::take_line() {
  if (skip_line_feed_ && read_ < waiting_.size()) {
    if (waiting_[read_] == '\n') ++read_;
    skip_line_feed_ = false;
  }
  const std::size_t end = line_end(waiting_, read_);
  const std::string_view piece = std::string_view(waiting_).substr(read_, end - read_);
  const std::size_t longest =
      limit_ + kTail;  // a line may be longer than the kept part of its value
  const bool ended = end != std::string::npos;
  if (ended) {
    skip_line_feed_ = waiting_[end] == '\r';
    read_ = end + 1;
    if (line_.empty() && piece.size() <= longest) return piece;
  }
  const std::size_t kept = std::min(longest - std::min(line_.size(), longest), piece.size());
  line_.append(piece.substr(0, kept));
  if (kept < piece.size()) {
    keep_tail(line_tail_, piece.substr(kept));
    dropped_ += piece.size() - kept;
  }
  if (ended) return line_;
  waiting_.clear();
  read_ = 0;
  return std::nullopt;
}

SseEvent* SseParser::next() {
  if (std::exchange(returned_, false)) forget_event();
  while (std::optional<std::string_view> line = take_line()) {
    if (!std::exchange(begun_, true) && line->starts_with(kMark)) line->remove_prefix(kMark.size());
    const bool ends_event = line->empty();
    if (!ends_event) parse_line(*line);
    forget_line();
    if (!ends_event) continue;
    returned_ = std::exchange(has_data_, false);
    if (returned_) return &event_;
    forget_event();
  }
  return nullptr;
}

void SseParser::forget_event() {
  event_.name.clear();
  event_.data.clear();  // with its memory: most events are about as long as the one before
  if (event_.data.capacity() > kLongestKept) event_.data.shrink_to_fit();
  event_.too_long = false;
  event_.tail.clear();
}

void SseParser::parse_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == 0) return;
  std::string_view value;
  if (colon != std::string_view::npos) value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  parse_field(line.substr(0, colon), value);
}

void SseParser::forget_line() {
  line_.clear();  // with its memory: most lines are about as long as the one before
  if (line_.capacity() > kLongestKept) line_.shrink_to_fit();
  dropped_ = 0;
  line_tail_.clear();
}

void SseParser::parse_field(std::string_view name, std::string_view value) {
  if (name == "data") return add_data(value);
  if (dropped_ > 0 || value.size() > kLongestId) return;
  if (name == "event") {
    event_.name = std::string(value);
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) last_id_ = std::string(value);
  } else if (name == "retry") {
    constexpr std::uint32_t kLongest = 3'600'000;
    std::uint32_t milliseconds = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), milliseconds);
    if (read.ec == std::errc() && read.ptr == value.data() + value.size()) {
      retry_ = std::chrono::milliseconds(std::min(milliseconds, kLongest));
    }
  }
}

void SseParser::add_data(std::string_view value) {
  if (has_data_ && event_.data.size() < limit_) event_.data += '\n';
  has_data_ = true;
  const std::size_t kept = std::min(value.size(), limit_ - std::min(event_.data.size(), limit_));
  event_.data.append(value.substr(0, kept));
  if (kept == value.size() && dropped_ == 0 && !event_.too_long) return;
  event_.too_long = true;
  keep_tail(event_.tail, value.substr(kept));
  keep_tail(event_.tail, line_tail_);
}

}  // namespace sallyport::net
