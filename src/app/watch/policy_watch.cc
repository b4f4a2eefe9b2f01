#include "app/watch/policy_watch.h"

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
  if (!loader_.origin().changes) return std::nullopt;
  Stamp stamp;
  const auto add = [&](const std::filesystem::path& file) {
    std::error_code no_time;
    std::error_code no_size;
    stamp.files.emplace_back(std::filesystem::last_write_time(file, no_time),
                             std::filesystem::file_size(file, no_size));
    return !no_time && !no_size;
  };
  if (!add(*loader_.origin().changes)) return std::nullopt;
  // A file that the policy extends is a part of it; one that is gone makes it unreadable.
  if (const auto& extended = loader_.extended_file()) (void)add(*extended);
  return stamp;
}

Task<void> PolicyWatch::take_up() {
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
  // The file says again what is in force: nothing is refused any more, and the log says so.
  co_return co_await plans_.load(plans_.current(), std::move(origin));
}

Task<void> PolicyWatch::load() {
  seen_ = stamp();
  const Result<void> taken = co_await take_up();
  // Only now it is known what the policy extends.
  if (loader_.extended_file()) seen_ = stamp();
  co_return taken;
}

Task<void> PolicyWatch::turn_to(policy::PolicyLoader::Turn next) {
  policy::PolicyLoader::Turn before = loader_.turn_to(std::move(next));
  Result<void> taken = co_await take_up();
  if (!taken) loader_.turn_to(std::move(before));
  seen_ = stamp();
  co_return taken;
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
  const auto extended = loader_.extended_file();
  const Result<void> taken = co_await take_up();
  if (loader_.extended_file() != extended) seen_ = stamp();
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
