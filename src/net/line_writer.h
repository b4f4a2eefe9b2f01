// Writes lines: at once if that does not block, else from a bounded queue.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <list>
#include <string>

#include "base/async.h"

namespace sallyport::net {

// On a strand, or on a context with one thread.
class LineWriter {
 public:
  // `bound`: the most queued bytes. An empty queue takes a line of any size. `to` does not block,
  // and must outlive the writer.
  LineWriter(boost::asio::posix::stream_descriptor& to, std::size_t bound);

  // False: it was dropped, because the queue is full or the reader is gone.
  bool push(std::string line);

  // Writes queued lines, until `close` or until the reader is gone.
  Async<void> run();
  // Returns when there is room, the reader is gone, or `longest` has passed.
  Async<void> room(std::chrono::milliseconds longest);
  // True: the queue is empty.
  Async<bool> flush(std::chrono::milliseconds longest);
  void close();

  bool broken() const { return broken_; }
  std::size_t waiting() const { return bytes_; }

 private:
  Async<void> until(std::size_t bytes, std::chrono::milliseconds longest);
  void notify_waiting();
  bool write_now(std::string& line);

  boost::asio::posix::stream_descriptor& to_;
  std::size_t bound_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
  bool closed_ = false;
  bool broken_ = false;
  boost::asio::steady_timer more_;
  std::list<boost::asio::steady_timer*> waiters_;
};

}  // namespace sallyport::net
