#include "workspace/workspace.h"

#include <fmt/format.h>

#include "autonomy/trust_memory.h"
#include "base/try.h"
#include "guards/detect/detectors.h"
#include "guards/redact/storage_redactor.h"
#include "ledger/secret/key_folder.h"
#include "ledger/secret/private_file.h"
#include "ledger/write/start_check.h"
#include "machine/network_fs.h"
#include "store/open_store.h"

namespace sallyport::app {

namespace {

using ledger::LedgerStore;
using store::Access;

// The network file system that was allowed; empty for a local one.
Result<std::string> check_file_system(const Workspace::Place& place) {
  // A shared log keeps only keys and the witness here, and one process at a time writes them.
  if (place.config.ledger.shared) return std::string();
  SALLYPORT_TRY(std::string network, network_file_system(place.data_dir));
  if (network.empty() || place.allow_network_fs || place.config.ledger.allow_network_fs) {
    return network;
  }
  return fail(ErrorCode::Conflict,
              fmt::format("the data folder is on a network file system ({}), where a ledger can be "
                          "damaged; move it to a local disk, or give --allow-network-fs",
                          network),
              place.data_dir.string());
}

Result<void> must_exist(const Workspace::Place& place) {
  if (place.config.ledger.shared) return {};  // opening it finds out
  std::error_code code;
  if (std::filesystem::exists(place.ledger_file(), code)) return {};
  // If the folder cannot be read or is a file, it is unknown whether there is a ledger.
  if (!code) std::filesystem::directory_iterator(place.data_dir, code);
  if (code && code != std::errc::no_such_file_or_directory) {
    return ledger::ledger_unavailable(
        code == std::errc::permission_denied ? "not_owner" : "io",
        fmt::format("{}: {}", place.data_dir.string(), code.message()));
  }
  if (std::filesystem::exists(place.data_dir / "keys" / "origin", code)) {
    return fail(ErrorCode::NotFound,
                "the ledger is gone, and its key has signed one before; restore the ledger file, "
                "or move the keys folder away to begin a new log",
                place.ledger_file().string());
  }
  return fail(
      ErrorCode::NotFound,
      "there is no ledger yet; the first call through `sallyport mcp`, `serve` or `hook` makes "
      "one, --data-dir names another folder",
      place.data_dir.string(), Workspace::kNoLedger);
}

// Folders above it get the usual mode, the data folder itself is private from the first moment.
Result<void> make_data_folder(const std::filesystem::path& folder) {
  const std::filesystem::path named = folder.has_filename() ? folder : folder.parent_path();
  std::error_code code;
  std::filesystem::create_directories(named.parent_path(), code);
  return ledger::make_private_folder(named);
}

Result<std::unique_ptr<LedgerStore>> open_store(const Workspace::Place& place, Access access,
                                                bool passing = false) {
  return store::open_store({.file = place.ledger_file(),
                            .shared = place.config.ledger.shared,
                            .access = access,
                            .lock_wait = place.config.ledger.lock_wait,
                            .passing = passing});
}

// An auditor's copy has no secret. `doctor` reports a secret that is open to others.
Result<void> read_with_seals(const Workspace::Place& place, LedgerStore& store) {
  const auto secret = ledger::KeyFolder::kept_digest_key(place.data_dir);
  if (!secret || !*secret) return {};
  return ledger::check_seals_of(store, std::make_shared<const KeyedDigest>(**secret));
}

}  // namespace

bool Workspace::Place::has_ledger() const {
  std::error_code code;
  return config.ledger.shared || std::filesystem::exists(ledger_file(), code);
}

std::string Workspace::Place::log_name() const {
  if (!config.ledger.shared) return data_dir.string();
  return fmt::format("the shared log `{}`", config.ledger.shared->name);
}

std::filesystem::path Workspace::Place::witness_file() const {
  if (!config.ledger.keeps_witness) return {};
  return config.ledger.witness_path.value_or(data_dir / "witness");
}

Workspace::~Workspace() = default;

Result<std::unique_ptr<Workspace>> Workspace::open_reading(Place place) {
  SALLYPORT_CHECK_OK(check_file_system(place));
  SALLYPORT_CHECK_OK(must_exist(place));
  std::unique_ptr<Workspace> workspace(new Workspace(std::move(place)));
  SALLYPORT_TRY(workspace->store_, open_store(workspace->place_, Access::ReadOnly));
  SALLYPORT_CHECK_OK(read_with_seals(workspace->place_, *workspace->store_));
  return workspace;
}

Result<std::unique_ptr<Workspace>> Workspace::open_writing(Place place, Writing writing) {
  if (writing.passing && place.config.ledger.shared) {
    return fail(ErrorCode::Unavailable,
                "the ledger is a log that several machines share, and no `sallyport serve` runs "
                "here that could be asked; start it",
                "ledger.store");
  }
  SALLYPORT_TRY(std::string network, check_file_system(place));
  if (!writing.announced) SALLYPORT_CHECK_OK(must_exist(place));
  SALLYPORT_CHECK_OK(make_data_folder(place.data_dir));
  std::unique_ptr<Workspace> workspace(new Workspace(std::move(place)));
  const Place& here = workspace->place_;
  SALLYPORT_TRY(workspace->detectors_,
                guards::Detectors::build(guards::default_detectors(), &workspace->patterns_));
  workspace->redactor_ = std::make_unique<guards::StorageRedactor>(workspace->detectors_);
  SALLYPORT_TRY(workspace->store_, open_store(here, Access::ReadWrite, writing.passing));
  ledger::Ledger::Parts parts{*workspace->store_, *workspace->redactor_, workspace->clock_,
                              workspace->entropy_};
  if (writing.closes_interrupted) {
    parts.close_interrupted = autonomy::closing_interrupted(workspace->clock_, workspace->entropy_);
  }
  ledger::Ledger::Settings settings{
      .data_folder = here.data_dir,
      .role = std::move(writing.role),
      .origin = here.config.ledger.origin,
      .checkpoint_copy = here.witness_file(),
      .reserve_bytes = here.config.ledger.reserve_bytes,
      // Long-running processes apply retention; a command such as a key rotation does not.
      .retention = writing.announced ? here.config.ledger.retention
                                     : decltype(here.config.ledger.retention){},
      .network_file_system = std::move(network),
      .acknowledged_rollback = std::move(writing.acknowledged_rollback),
      .acknowledged_by = std::move(writing.acknowledged_by),
      .announced = writing.announced,
      .passing = writing.passing,
      .in_place = writing.in_place};
  SALLYPORT_TRY(workspace->ledger_, ledger::Ledger::open(std::move(parts), std::move(settings)));
  return workspace;
}

Result<std::vector<core::Draft>> Workspace::rehearse(const Place& place,
                                                     const ledger::Group::Compose& compose) {
  SALLYPORT_CHECK_OK(check_file_system(place));
  SALLYPORT_CHECK_OK(must_exist(place));
  SALLYPORT_TRY(const std::unique_ptr<LedgerStore> store, open_store(place, Access::ReadWrite));
  SALLYPORT_CHECK_OK(read_with_seals(place, *store));
  Result<std::vector<core::Draft>> drafts;
  const Result<void> undone = store->write([&](ledger::WriteView& view) -> Result<void> {
    drafts = compose(view);
    // Fails on purpose, so that the transaction is rolled back.
    return fail(ErrorCode::Cancelled, "rehearsed");
  });
  if (undone.error().code != ErrorCode::Cancelled) return std::unexpected(undone.error());
  return drafts;
}

}  // namespace sallyport::app
