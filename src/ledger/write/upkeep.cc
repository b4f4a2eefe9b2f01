// The work that the holder of the pen does from time to time: the kept checkpoint, retention, and
// removing erased content from the files.
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/try.h"
#include "ledger/ledger.h"
#include "ledger/maintenance.h"
#include "ledger/secret/private_file.h"

namespace sallyport::ledger {

using std::chrono::seconds;

namespace {

// A passing process does not replace a copy that is less than a minute old.
bool is_fresh(const std::filesystem::path& file, WallTime now) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return false;
  const auto age = now - WallTime(seconds(status.st_mtime));
  return age >= seconds(0) && age < seconds(60);
}

}  // namespace

void Ledger::keep_checkpoint(bool now) {
  const std::string& newest = committer_.newest_checkpoint();
  if (settings_.checkpoint_copy.empty() || newest.empty() || newest == copied_checkpoint_) return;
  const SteadyTime time = parts_.clock.steady();
  if (!now && copied_at_ && time - *copied_at_ < seconds(1)) return;
  if (settings_.passing && is_fresh(settings_.checkpoint_copy, parts_.clock.wall())) return;
  copied_at_ = time;
  // A copy of a checkpoint that may still be lost would contradict the ledger at its next start.
  if (!committer_.is_on_disk() && !write_nothing("witnessed")) return;
  if (replace_private_file(settings_.checkpoint_copy, newest)) copied_checkpoint_ = newest;
}

void Ledger::apply_retention() {
  constexpr auto kEvery = std::chrono::hours(1);
  const SteadyTime now = parts_.clock.steady();
  if (settings_.retention.empty() || !health().ok) return;
  if (retention_applied_ && now - *retention_applied_ < kEvery) return;
  // A process before this one may have ended before it could scrub.
  bool erased = !retention_applied_ && !settings_.passing;
  retention_applied_ = now;
  for (const auto& [kind, age] : settings_.retention) {
    Group group;
    Selection old{.kind = kind, .until = parts_.clock.wall() - age};
    group.compose =
        erase(std::move(old), "retention", fmt::format("older than {} s", age.count()), Held::Skip);
    erased = (committer_.commit({&group}) && group.result) || erased;
  }
  if (erased) scrub_at_ = now;
}

// While a reader needs the old write-ahead log, the files hold what retention erased. Writers wait
// during an attempt, so attempts are short and rare.
void Ledger::scrub_if_owed() {
  constexpr auto kEvery = seconds(5);
  constexpr auto kLongestWait = std::chrono::milliseconds(100);
  const SteadyTime now = parts_.clock.steady();
  if (!scrub_at_ || now < *scrub_at_) return;
  if (parts_.store.scrub(kLongestWait)) {
    scrub_at_.reset();
  } else {
    scrub_at_ = now + kEvery;
  }
  owes_scrub_ = scrub_at_.has_value();
}

}  // namespace sallyport::ledger
