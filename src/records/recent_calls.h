// A cache of the newest calls. A repeated list of the newest calls reads only what was written
// since, so ten consoles cost as much as one.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "ledger/store.h"
#include "records/call_list.h"

namespace sallyport::app {

// May be used from any thread.
class RecentCalls {
 public:
  // The newest `count` calls, the newest first, with texts as a list shows them. No value: search
  // the log, because the answer needs older entries than those kept, the view is older than they
  // are, or an entry cannot be read. `wanted`: the caller still waits.
  Result<std::optional<std::vector<CallRow>>> newest(ledger::ReadView& view, std::size_t count,
                                                     const std::function<bool()>& wanted);

 private:
  struct Kept {
    std::uint64_t begin = 0;  // of the entries that `calls` covers
    std::uint64_t end = 0;
    Hash last{};  // leaf of the entry before the end: another log may take the place of this one
    std::deque<CallRow> calls{};                                  // the oldest first
    std::unordered_map<std::string, std::uint64_t> unfinished{};  // sequence of their rows, by call
  };
  static Result<void> read_on(ledger::ReadView& view, std::uint64_t size, Kept& kept,
                              const std::function<bool()>& wanted);
  static void add(Kept& kept, CallRow row, bool terminal);

  Guarded<Kept> kept_;
};

}  // namespace sallyport::app
