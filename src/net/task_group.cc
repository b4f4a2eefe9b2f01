#include "net/task_group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <list>

namespace sallyport::net {

namespace asio = boost::asio;

struct TaskGroup::State {
  State(asio::any_io_executor on, std::function<void(std::string_view)> callback)
      : executor(std::move(on)), bell(executor), failed(std::move(callback)) {}
  asio::any_io_executor executor;
  asio::steady_timer bell;
  std::function<void(std::string_view)> failed;
  std::list<asio::cancellation_signal> running;
};

namespace {

// True if the coroutine was cancelled, which is its normal way to stop.
bool was_cancelled(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

TaskGroup::TaskGroup(asio::any_io_executor executor, std::function<void(std::string_view)> failed)
    : state_(std::make_shared<State>(std::move(executor), std::move(failed))) {}

TaskGroup::~TaskGroup() = default;

void TaskGroup::start(Async<void> work) {
  const auto place = state_->running.emplace(state_->running.end());
  asio::co_spawn(state_->executor, std::move(work),
                 asio::bind_cancellation_slot(
                     place->slot(), [state = state_, place](const std::exception_ptr& thrown) {
                       if (thrown && !was_cancelled(thrown))
                         state->failed("a task failed unexpectedly");
                       state->running.erase(place);
                       if (state->running.empty()) state->bell.cancel();
                     }));
}

std::size_t TaskGroup::size() const {
  return state_->running.size();
}

void TaskGroup::cancel() {
  // A handler may erase its own entry during `emit`.
  for (auto at = state_->running.begin(); at != state_->running.end();) {
    (at++)->emit(asio::cancellation_type::terminal);
  }
}

Async<bool> TaskGroup::join(std::chrono::milliseconds longest) {
  const std::shared_ptr<State> state = state_;
  state->bell.expires_after(longest);
  boost::system::error_code ignored;
  if (!state->running.empty()) {
    co_await state->bell.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return state->running.empty();
}

}  // namespace sallyport::net
