// Waits for work until it ends, its deadline passes or it is cancelled.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/async.h"

namespace sallyport {

enum class Finish { Worked, Threw, Deadline, Cancelled };

template <class T>
struct Raced {
  Finish finish = Finish::Worked;
  std::optional<T> value;  // set only for `Worked`
};

// Receives the value of work that ends after its caller stopped waiting.
template <class T>
using Late = std::function<Async<void>(T value)>;

// Shared: work that ignores its cancellation runs on after its caller stopped waiting, and keeps
// what it owns until it ends.
template <class T>
struct RaceState {
  std::optional<boost::asio::steady_timer> gate;  // no value: no coroutine waits yet
  boost::asio::cancellation_signal cancel_work;
  Raced<T> result{Finish::Deadline, std::nullopt};
  bool given_up = false;
  Late<T> late;
};

template <class T>
void end_race(RaceState<T>& state, Finish finish, std::optional<T> value = {}) {
  state.result = {finish, std::move(value)};
  if (state.gate) state.gate->cancel();
}

template <class T>
Async<void> run_in_race(std::shared_ptr<RaceState<T>> state, Async<T> work) {
  T value = co_await std::move(work);
  if (!state->given_up) {
    end_race(*state, Finish::Worked, std::optional<T>(std::move(value)));
  } else if (state->late) {
    // Spawned separately, because this coroutine is cancelled.
    namespace asio = boost::asio;
    asio::co_spawn(co_await asio::this_coro::executor, state->late(std::move(value)),
                   asio::detached);
  }
}

// `work` must own what it uses. Call this on a strand or on a context with one thread. Work that
// never waits costs no timer.
template <class T>
Async<Raced<T>> race(Async<T> work, std::chrono::steady_clock::time_point deadline,
                     std::stop_token cancel, Late<T> late = {}) {
  namespace asio = boost::asio;
  const auto executor = co_await asio::this_coro::executor;
  const auto state = std::make_shared<RaceState<T>>();
  state->late = std::move(late);
  asio::co_spawn(executor, run_in_race(state, std::move(work)),
                 asio::bind_cancellation_slot(state->cancel_work.slot(),
                                              [state](const std::exception_ptr& thrown) {
                                                if (thrown && !state->given_up)
                                                  end_race(*state, Finish::Threw);
                                              }));
  if (state->result.finish != Finish::Deadline) co_return std::move(state->result);
  state->gate.emplace(executor, deadline);
  const std::stop_callback on_cancel(cancel, [state, executor] {
    asio::post(executor, [state] {
      if (state->result.finish == Finish::Deadline) state->result.finish = Finish::Cancelled;
      state->gate->cancel();
    });
  });
  boost::system::error_code ignored;
  co_await state->gate->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  Raced<T> result = std::move(state->result);
  if (result.finish == Finish::Deadline || result.finish == Finish::Cancelled) {
    state->given_up = true;
    state->cancel_work.emit(asio::cancellation_type::terminal);
  }
  co_return result;
}

}  // namespace sallyport
