// Counts the unattended actions of an agent against its budget, in exact sliding windows. A pure
// value: the caller stores it as one fact of the ledger for each agent (AT-18, AT-19).
//
//   SALLYPORT_TRY(AutoUse use, AutoUse::parse(stored_fact));
//   const AutoUse::Excess verdict = use.weigh(budget, now);
//   if (!verdict.exhausted) use.add_dispatch(now);
//   for (const Window window : verdict.to_announce) use.set_announced(window, now);
//   store(use.text());
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autonomy/autonomy_policy.h"
#include "base/clock.h"

namespace sallyport::autonomy {

enum class Window { Hour, Day };
std::string_view to_string(Window window);
std::chrono::microseconds length_of(Window window);

class AutoUse {
 public:
  // An empty text means no use. `Corrupt`: `text` did not write it.
  static Result<AutoUse> parse(std::string_view stored);
  std::string text() const;

  struct Excess {
    bool exhausted = false;             // this dispatch would exceed the budget
    std::vector<Window> to_announce{};  // exceeded, and not announced within the last window
  };
  Excess weigh(const Budget& budget, WallTime now) const;

  // Forgets dispatches that are older than every window.
  void add_dispatch(WallTime now);
  void set_announced(Window window, WallTime now);

  // The number of dispatches in the window that ends now.
  std::size_t count(Window window, WallTime now) const;

  bool operator==(const AutoUse&) const = default;

 private:
  std::vector<WallTime> dispatches_;  // oldest first
  std::array<std::optional<WallTime>, 2> announced_{};
};

}  // namespace sallyport::autonomy
