// Requests that wait for an answer of a server, and the handling of answers to no open request.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mcp/server/server.h"

namespace sallyport::mcp {

// The number in an id of ours; no value for any other id.
std::optional<std::uint64_t> number_of(std::string_view id);

// Used on the strand of its server.
class PendingRequests {
 public:
  PendingRequests(std::size_t bound, Server::Log log) : bound_(bound), log_(std::move(log)) {}

  // `Exhausted`: too many wait.
  Result<std::uint64_t> next_id();
  void add(std::uint64_t id, std::shared_ptr<Waiter> waiter) {
    pending_.emplace(id, std::move(waiter));
  }
  bool contains(std::uint64_t id) const { return pending_.contains(id); }

  // True: a request waited for it.
  Async<bool> answer(Message answer);
  Async<bool> answer_malformed(std::string bytes, std::string id, std::string_view why);
  Async<bool> settle(std::uint64_t id, Response reply);
  Async<void> fail_all(std::string reason);

  // False: no request waited. A caller that also takes late answers may still get this one.
  bool abandon(std::uint64_t id);
  // No late answer can come any more.
  void forget(std::uint64_t id);

  // Limits log lines, so that a server that floods cannot flood our log.
  void complain(std::string_view problem, std::string_view about);

 private:
  std::shared_ptr<Waiter> take_late(std::uint64_t id);

  std::size_t bound_;
  Server::Log log_;
  std::map<std::uint64_t, std::shared_ptr<Waiter>> pending_;  // shared with the waiting callers
  std::deque<std::uint64_t> abandoned_;  // the newest, whose answers may still come
  // Late answers that a caller wants, the oldest first.
  std::deque<std::pair<std::uint64_t, std::shared_ptr<Waiter>>> late_;
  std::uint64_t last_id_ = 0;
  std::uint64_t complaints_ = 0;
};

}  // namespace sallyport::mcp
