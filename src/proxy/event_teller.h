// The events of one request, written one after the other beside it: no byte of an answer waits for
// an event that only reports.
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

// Shared with its own coroutine: the last events are written when the request has ended. On the
// loop of the request; `events` and `group` must outlive it.
class EventTeller : public std::enable_shared_from_this<EventTeller> {
 public:
  EventTeller(core::HostEvents& events, net::TaskGroup& group,
              const boost::asio::any_io_executor& executor)
      : events_(events), group_(group), idle_(executor) {}

  void tell(Event event, Subject subject);
  // Returns when all are written.
  Async<void> wait();

 private:
  static Async<void> write_all(std::shared_ptr<EventTeller> self);

  core::HostEvents& events_;
  net::TaskGroup& group_;
  boost::asio::steady_timer idle_;  // for those who wait
  std::deque<std::pair<Event, Subject>> waiting_;
  bool writes_ = false;
};

}  // namespace sallyport::proxy
