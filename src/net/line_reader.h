// Reads text line by line, with a limit on the memory of one line.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/async.h"

namespace sallyport::net {

struct Line {
  std::string text;       // without its end
  bool too_long = false;  // then `text` is only its first bytes
  std::string tail{};     // and this its last ones
  bool complete = true;   // false: the stream ended before the line did
};

class LineReader {
 public:
  // `limit`: the longest line that is kept whole. `from` must outlive the reader.
  LineReader(boost::asio::posix::stream_descriptor& from, std::size_t limit);

  // No value: it has ended. Empty lines are skipped; the text after the last line end is a line
  // too.
  Async<std::optional<Line>> next();

 private:
  std::optional<Line> take();
  void drop_excess();
  Line cut_out(std::size_t end);

  boost::asio::posix::stream_descriptor& from_;
  std::size_t limit_;
  std::unique_ptr<char[]> piece_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the line that is being read
  std::size_t searched_ = 0;  // there is no line end before this
  bool too_long_ = false;
  std::string tail_;
  bool ended_ = false;
};

}  // namespace sallyport::net
