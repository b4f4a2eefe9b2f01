// Which trust records a reader wants (TR-19): the newest of those that match, oldest first.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "trust/trust_record.h"

namespace sallyport::trust {

struct TrustQuery {
  std::optional<std::string> agent{};
  std::optional<std::string> action{};
  std::optional<WallTime> since{};
  std::optional<WallTime> until{};  // strictly before
  std::optional<Autonomy> tier{};
  std::optional<Outcome> outcome{};
  std::size_t limit = 1000;

  bool matches(const TrustRecord& record) const;
};

// Takes the whole chain in order and keeps the matching records.
class TrustSelection {
 public:
  explicit TrustSelection(TrustQuery query) : query_(std::move(query)) {}

  void take(TrustRecord record);
  std::vector<TrustRecord> records() &&;

 private:
  TrustQuery query_;
  std::deque<TrustRecord> kept_;
};

struct TrustTrace {
  std::string trace_id;
  std::vector<TrustRecord> records;
};
// In the order of their first records.
std::vector<TrustTrace> by_trace(std::vector<TrustRecord> records);

}  // namespace sallyport::trust
