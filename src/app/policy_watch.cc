#include "app/policy_watch.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/try.h"

namespace sallyport::app {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{500};

}  // namespace

PolicyWatch::PolicyWatch(policy::PolicyLoader& loader, core::PlanShelf& plans, std::string who,
                         Log log)
    : loader_(loader), plans_(plans), who_(std::move(who)), log_(std::move(log)) {}

std::optional<PolicyWatch::Stamp> PolicyWatch::stamp() const {
  const auto& file = loader_.origin().changes;
  if (!file) return std::nullopt;
  std::error_code code;
  Stamp stamp{.time = std::filesystem::last_write_time(*file, code)};
  if (code) return std::nullopt;
  stamp.size = std::filesystem::file_size(*file, code);
  if (code) return std::nullopt;
  return stamp;
}

Task<void> PolicyWatch::take_up() {
  const std::string source = loader_.origin().name;
  Result<std::optional<policy::PolicyLoader::Loaded>> loaded = loader_.refresh();
  if (!loaded) {
    const Error& error = loaded.error();
    SALLYPORT_CO_CHECK_OK(co_await plans_.reject({.source = source, .who = who_}, error));
    co_return std::unexpected(error);
  }
  if (!*loaded) co_return Result<void>{};
  co_return co_await plans_.load(
      (*loaded)->plan, {.source = source, .who = who_, .generation = loader_.generation()});
}

Task<void> PolicyWatch::load() {
  seen_ = stamp();
  co_return co_await take_up();
}

Async<void> PolicyWatch::look() {
  const std::optional<Stamp> now = stamp();
  // A file that is gone for a moment is being replaced; one that stays away is told of once.
  if (!now && seen_) {
    log_(fmt::format("the file of the policy is not there, the last good one stays in force: {}",
                     loader_.origin().changes->string()));
  }
  const bool changed = now && now != seen_;
  seen_ = now;
  if (!changed) co_return;
  const std::string before = plans_.current()->hash();
  const Result<void> taken = co_await take_up();
  if (!taken) {
    log_(fmt::format("the policy was refused, the last good one stays in force: {}: {}",
                     taken.error().where, taken.error().message));
  } else if (plans_.current()->hash() != before) {
    log_(fmt::format("a new policy is in force: {}, generation {}", loader_.origin().name,
                     loader_.generation()));
  }
}

Async<void> PolicyWatch::run() {
  if (!loader_.origin().changes) co_return;
  timer_.emplace(co_await boost::asio::this_coro::executor);
  while (!stopped_) {
    timer_->expires_after(kBetweenLooks);
    co_await timer_->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!stopped_) co_await look();
  }
}

void PolicyWatch::stop() {
  stopped_ = true;
  if (timer_) timer_->cancel();
}

}  // namespace sallyport::app
