// Lines of standard input, as a person types them, without holding up the loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>

#include "base/async.h"

namespace sallyport::app {

// On the loop's thread. One line is waited for at a time.
class LineReader {
 public:
  explicit LineReader(boost::asio::io_context& loop);

  // Without its line end; at most 64 KiB. No value: the input has ended, or `stop` was called.
  Async<std::optional<std::string>> line();
  // Forgets what was typed before now: an answer is typed to a question that is on the screen.
  void drop_typed();
  // Ends the wait for a line; what was typed of it is dropped.
  void stop();
  bool ended() const { return ended_; }

 private:
  boost::asio::posix::stream_descriptor input_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace sallyport::app
