// Removes content from a ledger, and holds that forbid it. Each removal writes a control entry in
// the same transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
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

// What a removal does about entries under a hold.
enum class Held {
  Refuse,  // it fails as a whole: a person asked for them
  Skip,    // it removes the others: retention continues beside a hold
};

// Removes salts and values of the selected openings (LE-57). `Conflict` names the hold that forbids
// it. `NotFound`: nothing was selected.
Group::Compose erase(Selection selection, std::string who, std::string reason,
                     Held held = Held::Refuse);

// True if an `erased` entry covers this opening of this entry.
bool selects(const Selection& selection, const EntryView& entry, std::string_view path);

// Removes entry bytes below `minimum` and keeps their leaf hashes. Entries that name keys stay
// whole: without them the rest could not be checked (LE-60).
Group::Compose prune(std::uint64_t minimum, std::string who, std::string reason);

Group::Compose set_hold(std::string id, Selection selection, std::string who, std::string reason);
Group::Compose lift_hold(std::string id, std::string who, std::string reason);

struct Hold {
  std::string id;
  Selection selection;
  std::string who;
  std::string reason;
};
Result<std::vector<Hold>> holds(ReadView& view);

}  // namespace sallyport::ledger
