// The events of one request. They are written in order and in the background, so that no byte of an
// answer waits for an event that only reports.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <utility>

#include "base/async.h"
#include "core/event/host_events.h"
#include "net/task_group.h"

namespace sallyport::proxy {

// Shared with its own coroutine, because the last events are written after the request has ended.
// Used on the loop of the request. `events` and `group` must outlive it.
class EventQueue : public std::enable_shared_from_this<EventQueue> {
 public:
  EventQueue(core::HostEvents& events, net::TaskGroup& group,
             const boost::asio::any_io_executor& executor)
      : events_(events), group_(group), idle_(executor) {}

  void add(Event event, Subject subject);
  // Returns when all events are written.
  Async<void> wait();

 private:
  static Async<void> write_all(std::shared_ptr<EventQueue> self);

  core::HostEvents& events_;
  net::TaskGroup& group_;
  boost::asio::steady_timer idle_;  // wakes waiters when all is written
  std::deque<std::pair<Event, Subject>> waiting_;
  bool writes_ = false;
};

}  // namespace sallyport::proxy
