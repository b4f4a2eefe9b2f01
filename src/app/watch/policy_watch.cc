#include "app/watch/policy_watch.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/try.h"
#include "base/turn.h"

namespace sallyport::app {

PolicyWatch::PolicyWatch(policy::PolicyLoader& loader, core::PlanShelf& plans, std::string who,
                         Log log)
    : loader_(loader), plans_(plans), who_(std::move(who)), log_(std::move(log)) {}

// A file that the policy extends is a part of it; one that is gone makes it unreadable.
FileRest::States PolicyWatch::states() const {
  if (!loader_.origin().changes) return std::nullopt;
  FileRest::States states = FileRest::of({*loader_.origin().changes});
  if (const auto& extended = loader_.extended_file(); states && extended) {
    states->push_back(FileState::of(*extended));
  }
  return states;
}

Task<void> PolicyWatch::reload() {
  const std::string source = loader_.origin().name;
  Result<std::optional<policy::PolicyLoader::Loaded>> loaded = loader_.refresh();
  if (!loaded) {
    const Error& error = loaded.error();
    refused_ = true;
    SALLYPORT_CO_CHECK_OK(co_await plans_.reject({.source = source, .who = who_}, error));
    co_return std::unexpected(error);
  }
  const bool mended = std::exchange(refused_, false);
  core::PlanShelf::Origin origin{.source = source, .who = who_, .generation = loader_.generation()};
  if (*loaded) {
    origin.text = (*loaded)->text;
    co_return co_await plans_.load((*loaded)->plan, std::move(origin));
  }
  if (!mended) co_return Result<void>{};
  // The file equals the policy in force again, so nothing is refused any more. Logs that.
  co_return co_await plans_.load(plans_.current(), std::move(origin));
}

Async<void> PolicyWatch::wait_for_turn() {
  while (loading_) co_await bell_.wait(Turn::kOver, std::chrono::seconds(1), {});
}

Task<void> PolicyWatch::load() {
  co_await wait_for_turn();
  const Turn turn(loading_, bell_);
  rest_.know(states());
  const Result<void> taken = co_await reload();
  // The file that the policy extends is known only now.
  if (loader_.extended_file()) rest_.know(states());
  co_return taken;
}

Task<void> PolicyWatch::switch_to(policy::PolicyLoader::Source next) {
  co_await wait_for_turn();
  const Turn turn(loading_, bell_);
  policy::PolicyLoader::Source before = loader_.switch_to(std::move(next));
  Result<void> taken = co_await reload();
  if (!taken) loader_.switch_to(std::move(before));
  rest_.know(states());
  co_return taken;
}

Async<void> PolicyWatch::look_now() {
  co_await wait_for_turn();
  const Turn turn(loading_, bell_);
  FileRest::States now = states();
  if (now) co_await load_changed(std::move(now));
}

Async<void> PolicyWatch::look() {
  co_await wait_for_turn();
  const Turn turn(loading_, bell_);
  FileRest::States now = states();
  // A file that is gone for a moment is being replaced; one that stays away is reported once.
  if (!now && rest_.there()) {
    log_(fmt::format("the file of the policy is not there, the last good one stays in force: {}",
                     loader_.origin().changes->string()));
  }
  if (rest_.changed(now)) co_await load_changed(std::move(now));
}

Async<void> PolicyWatch::load_changed(FileRest::States now) {
  rest_.know(std::move(now));
  const std::string before = plans_.current()->hash();
  const auto extended = loader_.extended_file();
  const Result<void> taken = co_await reload();
  if (loader_.extended_file() != extended) rest_.know(states());
  if (!taken) {
    log_(fmt::format("the policy was refused, the last good one stays in force: {}: {}",
                     taken.error().where, taken.error().message));
  } else if (plans_.current()->hash() != before) {
    log_(fmt::format("a new policy is in force: {}, generation {}", loader_.origin().name,
                     loader_.generation()));
  }
}

Async<void> PolicyWatch::run() {
  timer_.emplace(co_await boost::asio::this_coro::executor);
  while (!stopped_) {
    timer_->expires_after(FileRest::kBetweenLooks);
    co_await timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!stopped_) co_await look();
  }
}

void PolicyWatch::stop() {
  stopped_ = true;
  if (timer_) timer_->cancel();
}

}  // namespace sallyport::app
