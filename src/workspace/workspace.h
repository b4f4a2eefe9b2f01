// The composition root: one data folder with everything a ledger needs, put together in one place.
//
//   auto workspace = Workspace::open_writing({.data_dir = folder}, {.role = "demo"});
//   (*workspace)->ledger().append_blocking(...);
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/entropy.h"
#include "core/record/redactor.h"
#include "guards/detect/detectors.h"
#include "ledger/ledger.h"
#include "machine/pattern_files.h"
#include "workspace/config/config.h"

namespace sallyport::app {

class Workspace {
 public:
  struct Place {
    std::filesystem::path data_dir;
    Config config{};
    bool allow_network_fs = false;

    std::filesystem::path ledger_file() const { return data_dir / "ledger.db"; }
    // True if the file exists. Always true for a database, which is not asked here.
    bool has_ledger() const;
    // The place of the log, for people: a folder, or the name of a shared log.
    std::string log_name() const;
    std::filesystem::path key_file() const { return data_dir / "keys" / "signing.key"; }
    std::filesystem::path witness_file() const;  // empty: none is kept
    std::filesystem::path reviewers_file() const {
      return config.reviewers.value_or(data_dir / "reviewers.yaml");
    }
  };

  struct Writing {
    std::string role = "sallyport";
    // False: a maintenance command that writes its one entry into a ledger that is already there.
    bool announced = true;
    bool passing = false;   // a short-lived process that makes few commits
    bool in_place = false;  // a single caller writes on the thread of its loop
    std::string acknowledged_rollback{};
    std::string acknowledged_by{};
    bool closes_interrupted = false;  // closes calls that dead processes left open
  };

  // The cause if there is no ledger, and never was one. The first call makes it.
  static constexpr const char* kNoLedger = "no_ledger";

  // Every failure to find a ledger is `NotFound`; a network file system that was not allowed is
  // `Conflict` (LE-44).
  static Result<std::unique_ptr<Workspace>> open_reading(Place place);
  static Result<std::unique_ptr<Workspace>> open_writing(Place place, Writing writing);

  // Runs `compose` in a write transaction that is rolled back. Returns the control entries that it
  // would have written. For `--dry-run`.
  static Result<std::vector<core::Draft>> rehearse(const Place& place,
                                                   const ledger::Group::Compose& compose);

  Workspace(const Workspace&) = delete;
  ~Workspace();

  ledger::Ledger& ledger() { return *ledger_; }  // only if opened for writing
  ledger::LedgerStore& store() { return *store_; }
  const Place& place() const { return place_; }
  const Clock& clock() const { return clock_; }
  Entropy& entropy() { return entropy_; }
  const core::Redactor& redactor() const { return *redactor_; }  // only if opened for writing
  // Only if opened for writing.
  std::shared_ptr<const guards::Detectors> detectors() const { return detectors_; }
  const guardrails::PatternStore& patterns() const { return patterns_; }

 private:
  explicit Workspace(Place place)
      : place_(std::move(place)), patterns_(place_.data_dir / "cache", entropy_) {}

  Place place_;
  SystemClock clock_;
  SystemEntropy entropy_;
  PatternFiles patterns_;
  std::shared_ptr<const guards::Detectors> detectors_;
  std::unique_ptr<core::Redactor> redactor_;
  std::unique_ptr<ledger::LedgerStore> store_;
  std::unique_ptr<ledger::Ledger> ledger_;  // goes first: it writes `stopped`
};

}  // namespace sallyport::app
