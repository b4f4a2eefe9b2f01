// Counts what an agent did by itself against its budget, in exact sliding windows. Pure: the caller
// keeps the times, as one fact of the ledger for each agent (AT-18, AT-19).
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
  // An empty text means no use. `Corrupt`: we did not write this.
  static Result<AutoUse> parse(std::string_view stored);
  std::string text() const;

  struct Excess {
    bool exhausted = false;             // this dispatch would be over the budget
    std::vector<Window> to_announce{};  // over, and not yet told within one window's length
  };
  Excess weigh(const Budget& budget, WallTime now) const;

  // Dispatches that no window can see any more are forgotten.
  void add_dispatch(WallTime now);
  void set_announced(Window window, WallTime now);

  // How many dispatches the window that ends now holds.
  std::size_t count(Window window, WallTime now) const;

  bool operator==(const AutoUse&) const = default;

 private:
  std::vector<WallTime> dispatches_;  // oldest first
  std::array<std::optional<WallTime>, 2> announced_{};
};

}  // namespace sallyport::autonomy
