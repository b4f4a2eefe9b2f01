// Counts entries by kind and outcome for each minute.
#pragma once

#include <map>
#include <string>

#include "base/guarded.h"
#include "ledger/store.h"

namespace sallyport::app {

// A full block does not change, so each is counted once, and the cost does not grow with the number
// of entries. May be used from any thread.
class RecentCounts {
 public:
  using Counts = std::map<std::string, std::uint64_t>;
  using Minutes = std::map<std::chrono::sys_seconds, Counts>;

  // Since a full minute, by `Kind` or `Outcome`. A minute without entries is left out.
  Result<Minutes> since(ledger::ReadView& view, std::chrono::sys_seconds first, ledger::Facet by);

 private:
  struct Counted {
    Minutes kinds{};
    Minutes outcomes{};
  };
  static Result<Counted> count(ledger::ReadView& view, std::uint64_t begin, std::uint64_t end);
  Result<Counted> block(ledger::ReadView& view, std::uint64_t block);

  Guarded<std::map<std::uint64_t, Counted>> blocks_;  // by their number
};

}  // namespace sallyport::app
