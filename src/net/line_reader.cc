#include "net/line_reader.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace sallyport::net {

namespace asio = boost::asio;

namespace {
constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kLineTail = 4096;
}  // namespace

LineReader::LineReader(asio::posix::stream_descriptor& from, std::size_t limit)
    : from_(from), limit_(limit), piece_(std::make_unique_for_overwrite<char[]>(kPiece)) {}

Async<std::optional<Line>> LineReader::next() {
  while (true) {
    if (std::optional<Line> line = take()) co_return line;
    if (ended_) co_return std::nullopt;
    drop_excess();
    const auto [error, count] = co_await from_.async_read_some(asio::buffer(piece_.get(), kPiece),
                                                               asio::as_tuple(asio::use_awaitable));
    buffer_.append(piece_.get(), count);
    ended_ = static_cast<bool>(error);
  }
}

std::optional<Line> LineReader::take() {
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
      searched_ = buffer_.size();
      if (!ended_ || (begin_ == buffer_.size() && !too_long_)) return std::nullopt;
      Line last = cut_out(buffer_.size());
      last.complete = false;
      return last;
    }
    Line line = cut_out(end);
    begin_ = searched_ = std::min(end + 1, buffer_.size());
    if (line.too_long || line.text.find_first_not_of(" \t\r") != std::string::npos) return line;
  }
}

// Leaves `begin_` behind the line.
Line LineReader::cut_out(std::size_t end) {
  Line line{.too_long = std::exchange(too_long_, false) || end - begin_ > limit_};
  if (line.too_long) {
    const std::size_t from = end - std::min(end - begin_, kLineTail);
    line.tail = std::exchange(tail_, {}) + buffer_.substr(from, end - from);
    line.text = buffer_.substr(begin_, std::min(end - begin_, limit_));
  } else if (begin_ == 0 && end == buffer_.size()) {
    line.text = std::exchange(buffer_, {});
    end = 0;
  } else {
    line.text = buffer_.substr(begin_, end - begin_);
  }
  begin_ = searched_ = end;
  return line;
}

// Drops bytes that were read already. Of a line over the limit, only its ends are kept.
void LineReader::drop_excess() {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    if (buffer_.empty() && buffer_.capacity() > 16 * kPiece) buffer_.shrink_to_fit();
  }
  if (buffer_.size() <= limit_ + kLineTail) return;
  too_long_ = true;
  tail_ = buffer_.substr(buffer_.size() - kLineTail);
  buffer_.resize(limit_);
  searched_ = buffer_.size();
}

}  // namespace sallyport::net
