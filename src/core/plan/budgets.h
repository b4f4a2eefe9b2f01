// Counters that calls spend from, kept as facts beside the log (CG-48..CG-56): shared by all
// processes on it, and never counted twice or lost, because each change is made inside the
// transaction of the record that needs it.
//
//   draft.changes.push_back(budgets::reserve(spending, spender, now));   // with the approval request
//   draft.changes.push_back(budgets::charge(spending, spender, now)); // with the intent
//   draft.changes.push_back(budgets::reverse(call_id));              // if it ends without an intent
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/record/record_reader.h"

namespace sallyport::core {

// At most `max` in any window of `per_seconds` seconds.
struct Rate {
  std::uint64_t max = 0;
  std::uint64_t per_seconds = 0;

  bool operator==(const Rate&) const = default;
};

// A counter and its limits. Without limits it only counts.
struct Limit {
  std::string key;
  std::optional<std::uint64_t> max{};
  std::optional<Rate> rate{};
};

// What one call takes, once, from each of several counters.
struct Spending {
  std::vector<Limit> limits;
  std::vector<Fact> introduces{};  // written if nothing is stored yet

  bool limited() const;
};

// The call that spends. Changes are identified by their call, so that none is made twice.
struct Spender {
  std::string call_id;
  std::string instance_id;
};

namespace budgets {

inline constexpr std::string_view kOverBudget = "grant_budget";
inline constexpr std::string_view kOverRate = "grant_rate";

// Reserves room for a call that may run later. `Exhausted`, with one of the words above as cause:
// there is no room. A call that already has a reservation keeps it.
std::shared_ptr<const FactChange> reserve(Spending spending, Spender spender, WallTime now);

// The call runs. Its reservation becomes a charge; missing room is taken now, with `Exhausted` as
// above. A reservation on other counters is returned.
std::shared_ptr<const FactChange> charge(Spending spending, Spender spender, WallTime now);

// The call ends without having run. Does nothing if it has no reservation.
std::shared_ptr<const FactChange> reverse(std::string call_id);

// No value: there is room at this moment. Else the word for the limit that is reached.
Result<std::optional<std::string_view>> full(RecordReader& reader, const Limit& limit,
                                             WallTime now);

// The stored form of a counter with this use, for cases of `policy test`.
Fact used_fact(const std::string& key, std::uint64_t used);

struct Count {
  std::uint64_t used = 0;
  std::uint64_t held = 0;
};
Result<Count> count(RecordReader& reader, std::string_view key);

// The counters in which a call has a reservation.
Result<std::vector<std::string>> reserved_by(RecordReader& reader, std::string_view call_id);

// All reservations, each with its fact: the key is the call, the value names the process.
struct Reservation {
  Fact fact;
  std::string instance_id;
};
Result<std::vector<Reservation>> all_reservations(RecordReader& reader);

}  // namespace budgets

}  // namespace sallyport::core
