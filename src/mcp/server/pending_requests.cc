#include "mcp/server/pending_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/cut_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::size_t kRememberedAbandoned = 4096;
constexpr std::size_t kLate = 64;
constexpr std::uint64_t kComplaints = 20;

}  // namespace

std::optional<std::uint64_t> number_of(std::string_view id) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(id.data(), id.data() + id.size(), number);
  if (read.ec != std::errc() || read.ptr != id.data() + id.size()) return std::nullopt;
  return number;
}

Result<std::uint64_t> PendingRequests::next_id() {
  if (pending_.size() >= bound_) {
    return fail(ErrorCode::Exhausted, "too many requests wait for the server");
  }
  return ++last_id_;
}

Async<bool> PendingRequests::settle(std::uint64_t id, Response reply) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) co_return false;
  const std::shared_ptr<Waiter> waiter = std::move(found->second);
  pending_.erase(found);
  co_await waiter->answered(std::move(reply));
  co_return true;
}

Async<bool> PendingRequests::answer(Message answer) {
  const std::optional<std::uint64_t> id = number_of(answer.id);
  if (!id || !pending_.contains(*id)) {
    const bool late = id && std::ranges::find(abandoned_, *id) != abandoned_.end();
    if (!late) complain("an answer to no open request", answer.id);
    if (const std::shared_ptr<Waiter> waiter = late ? take_late(*id) : nullptr) {
      Response reply{.message = std::move(answer)};
      co_await waiter->answered(std::move(reply));
    }
    co_return false;
  }
  Response reply{.message = std::move(answer)};
  co_return co_await settle(*id, std::move(reply));
}

Async<bool> PendingRequests::answer_malformed(std::string bytes, std::string id,
                                              std::string_view why) {
  const std::optional<std::uint64_t> number = number_of(id);
  if (!number || !pending_.contains(*number)) {
    complain(fmt::format("something that is not a message ({})", why), bytes);
    co_return false;
  }
  Response reply{.malformed = std::move(bytes)};
  co_return co_await settle(*number, std::move(reply));
}

Async<void> PendingRequests::fail_all(std::string reason) {
  while (!pending_.empty()) {
    Response reply = failed(reason);
    co_await settle(pending_.begin()->first, std::move(reply));
  }
  while (!late_.empty()) forget(late_.front().first);
}

bool PendingRequests::abandon(std::uint64_t id) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return false;
  if (found->second->wants_late_answer()) late_.emplace_back(id, std::move(found->second));
  pending_.erase(found);
  if (late_.size() > kLate) forget(late_.front().first);
  abandoned_.push_back(id);
  if (abandoned_.size() > kRememberedAbandoned) abandoned_.pop_front();
  return true;
}

std::shared_ptr<Waiter> PendingRequests::take_late(std::uint64_t id) {
  const auto found = std::ranges::find(late_, id, [](const auto& entry) { return entry.first; });
  if (found == late_.end()) return nullptr;
  std::shared_ptr<Waiter> waiter = std::move(found->second);
  late_.erase(found);
  return waiter;
}

void PendingRequests::forget(std::uint64_t id) {
  if (const std::shared_ptr<Waiter> waiter = take_late(id)) waiter->no_answer_came();
}

void PendingRequests::complain(std::string_view problem, std::string_view about) {
  ++complaints_;
  if (complaints_ > kComplaints) return;
  log_(fmt::format("the server sent {}: `{}`", problem, readable(cut_whole_words(about, 200))));
  if (complaints_ == kComplaints) log_("more of that kind is not reported");
}

}  // namespace sallyport::mcp
