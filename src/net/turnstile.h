// Starts work in small groups: a few pieces in each turn of the loop, in order of arrival. If a
// thousand requests arrive at once, the first are answered while the others wait, instead of all at
// the end.
#pragma once

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <deque>
#include <memory>

#include "base/async.h"

namespace sallyport::net {

// Belongs to one loop. Waiting work ends with its loop.
class Turnstile {
 public:
  // In one turn. With fewer, too few share a durable write; with more, answers are late.
  static constexpr std::size_t kEachTurn = 32;

  explicit Turnstile(boost::asio::any_io_executor executor);

  // Returns at once if fewer than `kEachTurn` have passed in this turn.
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
