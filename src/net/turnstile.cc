#include "net/turnstile.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sallyport::net {

namespace asio = boost::asio;

Turnstile::Turnstile(asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

Async<void> Turnstile::pass() {
  State& state = *state_;
  // A posted handler runs after all work that the loop already has.
  if (state.passed == 0) asio::post(state.executor, [state = state_] { end_turn(state); });
  if (state.passed < kEachTurn && state.waiting.empty()) {
    ++state.passed;
    co_return;
  }
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
      [&state](auto handler) { state.waiting.emplace_back(std::move(handler)); },
      asio::use_awaitable);
}

void Turnstile::end_turn(const std::shared_ptr<State>& state) {
  state->passed = 0;
  if (state->waiting.empty()) return;
  for (; state->passed < kEachTurn && !state->waiting.empty(); ++state->passed) {
    auto next = std::move(state->waiting.front());
    state->waiting.pop_front();
    asio::post(state->executor, std::move(next));
  }
  asio::post(state->executor, [state] { end_turn(state); });
}

}  // namespace sallyport::net
