// Lets work begin piece by piece: some in each turn of the loop, in the order of arrival. Where a
// thousand requests arrive at once, those that came first are answered while the others wait, and
// not all of them at the end.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <deque>
#include <memory>

#include "base/async.h"

namespace sallyport::net {

// Belongs to one loop. What waits here ends with its loop.
class Turnstile {
 public:
  // Of one turn. Fewer share too few durable writes; more are answered too late.
  static constexpr std::size_t kEachTurn = 32;

  explicit Turnstile(boost::asio::any_io_executor executor);

  // Returns at once as long as few came in this turn.
  Async<void> pass();

 private:
  struct State {
    boost::asio::any_io_executor executor;
    std::deque<boost::asio::any_completion_handler<void()>> waiting{};
    std::size_t passed = 0;  // in this turn
  };
  static void end_turn(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  // shared with the end of the turn, which the loop keeps
};

}  // namespace sallyport::net
