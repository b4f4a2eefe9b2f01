// Closes what processes that no longer run left open in a log: calls and fail-open intervals.
//
//   DeadProcesses dead(view, members, close);
//   SALLYPORT_CHECK_OK(dead.find());
//   SALLYPORT_CHECK_OK(dead.close_calls());
//   SALLYPORT_CHECK_OK(dead.close_fail_open("restart"));
//   write(dead.take_drafts());   // in the transaction of `view`
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/draft.h"
#include "ledger/ledger.h"
#include "ledger/member/membership.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// The most calls that one transaction closes while this process runs, so that writers do not wait
// long.
inline constexpr std::size_t kMostCallsAtOnce = 500;

// Lives within one transaction. Everything given must outlive it.
class DeadProcesses {
 public:
  DeadProcesses(WriteView& view, const Membership& members, const Ledger::Close& close)
      : view_(view), members_(members), close_(close) {}

  // Finds the processes that the log names and that are not alive.
  Result<void> find();
  const std::vector<std::string>& names() const { return dead_; }
  bool anyone_alive() const { return alive_ > 0; }

  // Also closes calls of processes that stopped properly and left a call open.
  Result<void> close_calls();
  // Closes the open calls of one process, at most `kMostCallsAtOnce`. Returns how many were open;
  // those beyond the bound stay open for the next time.
  Result<std::size_t> close_calls_of(const std::string& instance);
  Result<void> close_fail_open(std::string_view ended_by);

  std::vector<core::Draft> take_drafts() { return std::move(drafts_); }

 private:
  Result<void> close_calls_if(const std::function<bool(const std::string&)>& is_dead);

  WriteView& view_;
  const Membership& members_;
  const Ledger::Close& close_;
  std::size_t alive_ = 0;
  std::vector<std::string> dead_{};
  std::vector<core::Draft> drafts_{};
};

// The indexes of the drafts that end a call. Their sinks did not receive them yet.
std::vector<std::size_t> records_among(const std::vector<core::Draft>& drafts);

}  // namespace sallyport::ledger
