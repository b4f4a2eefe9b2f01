// Erases content of entries, prunes old entries, and sets and lifts the holds that forbid both. Each
// change writes a control entry in the same transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ledger/open_calls.h"
#include "ledger/write/committer.h"

namespace sallyport::ledger {

// A selection of entries. An entry must match every member that is set.
struct Selection {
  std::optional<std::string> call_id;
  std::optional<std::string> session_id;
  std::optional<std::string> agent_id;
  std::optional<std::string> kind;
  std::optional<WallTime> since;
  std::optional<WallTime> until;    // strictly before
  std::optional<std::string> path;  // JSON Pointer into the entry: this field and what is under it

  bool empty() const;
  json::object to_json() const;
  static Result<Selection> from_json(const json::value& value);
};

// What a removal does about entries that must stay: those under a hold, and those of a call that is
// open.
enum class Held {
  Refuse,  // the removal fails as a whole, for a request of a person
  Skip,    // it removes the others, for retention
};

// What a removal does about calls that were left. Without `end` they are open.
struct LeftCalls {
  EndLeft end{};
  WallTime now{};
};

// The cause of `NotFound` if a removal finds only what was removed before. Files may still hold that.
inline constexpr const char* kRemovedBefore = "removed_before";

// Removes salts and values of the selected openings, and what is still kept for their calls beside
// the entries (LE-57, LE-58). `Conflict` names the hold or the open call that forbids it.
// `NotFound`: nothing was selected. Ends selected calls that were left
// (`OpenCalls::take_left`).
Group::Compose erase(Selection selection, std::string actor, std::string reason,
                     Held held = Held::Refuse, LeftCalls left_calls = {});

// True if an `erased` entry covers this opening of this entry.
bool selects(const Selection& selection, const EntryView& entry, std::string_view path);

// Removes entry bytes below `minimum` and keeps their leaf hashes. Entries that name keys stay
// whole: without them the rest could not be checked (LE-60). `Conflict`: a hold covers one of them,
// or a call of one of them is open.
Group::Compose prune(std::uint64_t minimum, std::string actor, std::string reason);

Group::Compose set_hold(std::string id, Selection selection, std::string actor, std::string reason);
Group::Compose lift_hold(std::string id, std::string actor, std::string reason);

// True if there is an entry that the selection covers, whatever its fields.
Result<bool> covers_any(ReadView& view, const Selection& selection);

struct Hold {
  std::string id;
  Selection selection;
  std::string actor;
  std::string reason;
};
Result<std::vector<Hold>> holds(ReadView& view);

}  // namespace sallyport::ledger
