// Opens a ledger for writing: checks it, closes what dead processes left open, and writes `started`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/copy_ledger.h"
#include "ledger/ledger.h"
#include "ledger/member/instance_lock.h"
#include "ledger/member/local_membership.h"
#include "ledger/proof/key_history.h"
#include "ledger/read/query.h"
#include "ledger/secret/private_file.h"
#include "ledger/write/dead_processes.h"
#include "ledger/write/start_check.h"

namespace sallyport::ledger {

namespace {

std::string random_origin(Entropy& entropy) {
  std::array<std::uint8_t, 16> bytes;
  entropy.fill(bytes);
  return "sallyport.local/" + hex(bytes);
}

// The key that the ledger is signed with, also when a rotation was cut short between its commit and
// the exchange of the files. `has_signed` was read before the view began: a commit of another
// process in between must not look like a lost log.
KeyFolder::FoundKey find_key(ReadView& view, const KeyFolder& keys, bool has_signed,
                             const std::string& wanted_origin, Entropy& entropy) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  SALLYPORT_TRY(std::shared_ptr<const SigningKey> staged, keys.staged());
  SALLYPORT_TRY(std::shared_ptr<const SigningKey> key, keys.signing_key());
  if (size == 0) {
    if (has_signed) {
      return fail(
          ErrorCode::Corrupt,
          "the ledger is empty, but its key has signed one before: restore the ledger file, "
          "or move the keys folder away to begin a new log",
          {}, "corrupt");
    }
    if (!wanted_origin.empty()) SALLYPORT_CHECK_OK(check_origin(wanted_origin));
    if (key && !wanted_origin.empty() && key->verifier().name != wanted_origin) key.reset();
    if (key) return key;
    return keys.create_signing_key(wanted_origin.empty() ? random_origin(entropy) : wanted_origin,
                                   entropy);
  }
  SALLYPORT_TRY(const std::optional<std::string> current, view.fact("ledger", "key"));
  if (staged && current && staged->verifier().text() == *current) key = std::move(staged);
  if (!key) {
    return fail(ErrorCode::NotFound,
                "the private key of this ledger is not in its keys folder (`keys/signing.key`); "
                "restore it from a copy",
                {}, "io");
  }
  if (current && key->verifier().text() != *current) {
    return fail(ErrorCode::Conflict,
                fmt::format("the keys folder holds `{}`, the ledger is signed with `{}`; restore "
                            "the right key",
                            key->verifier().text(), *current),
                {}, "io");
  }
  if (!wanted_origin.empty() && wanted_origin != key->verifier().name) {
    return fail(ErrorCode::Conflict,
                fmt::format("ledger.origin is `{}`, but this ledger began as `{}`, which never "
                            "changes; remove the setting",
                            wanted_origin, key->verifier().name));
  }
  return key;
}

// Two folders with different keys must not write one log: neither could check or open the entries
// of the other.
std::map<std::string, std::string> key_ids(const std::string& digest_key,
                                           const std::string& box_key) {
  const auto id = [](const std::string& key) {
    return hex(KeyedDigest(key).bytes("sallyport/key-id/v1")).substr(0, 16);
  };
  return {{"digest.key", id(digest_key)}, {"box.key", id(box_key)}};
}

// A log that was copied into a database continues only there (SC-4).
Result<void> check_not_moved(ReadView& view, const Membership& membership) {
  SALLYPORT_TRY(const std::optional<std::string> elsewhere, moved_to(view));
  if (!elsewhere || membership.by_lease()) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("this ledger was moved to {}; name that under ledger.store in the "
                          "configuration",
                          *elsewhere));
}

// No value: there is none, or a person has accepted the ledger.
Result<std::optional<std::string>> kept_checkpoint(const Ledger::Settings& settings) {
  if (settings.checkpoint_copy.empty() || !settings.acknowledged_rollback.empty())
    return std::nullopt;
  return read_private_file(settings.checkpoint_copy);
}

Result<void> check_kept_checkpoint(ReadView& view, const Ledger::Settings& settings,
                                   const std::optional<std::string>& kept, const VerifierKey& key) {
  if (!kept) return {};
  // Mostly the current key signed it. To find earlier keys the whole ledger must be read.
  if (check_against(view, *kept, {{.key = key}})) return {};
  SALLYPORT_TRY(const std::vector<KeyPeriod> keys, key_history(view));
  Result<void> same = check_against(view, *kept, keys);
  if (same) return {};
  return fail(ErrorCode::Corrupt,
              fmt::format("{} (witness {}); find out why, then run `sallyport ledger acknowledge "
                          "--reason TEXT`",
                          same.error().message, settings.checkpoint_copy.string()),
              {}, "corrupt");
}

// Says that no process wrote this log until now. `dead`: some ended without `stopped`.
Result<core::Draft> gap_entry(ReadView& view, std::uint64_t size, bool dead) {
  SALLYPORT_TRY(const std::optional<StoredEntry> last, view.entry(size - 1));
  json::object details{{"clean", !dead}};
  if (last->bytes) {
    SALLYPORT_TRY(const EntryView entry, view_entry(*last->bytes));
    details["last_entry_at"] = entry.recorded_at;
  }
  return control("gap", std::move(details));
}

core::Draft started_entry(const Ledger::Settings& settings, const std::string& key) {
  json::object details{
      {"role", settings.role}, {"process", static_cast<std::int64_t>(getpid())}, {"key", key}};
  if (!settings.network_file_system.empty()) {
    details["network_file_system"] = settings.network_file_system;
  }
  if (!settings.unverified_host.empty()) details["unverified_host"] = settings.unverified_host;
  return control("started", std::move(details));
}

// Also removes the locks of killed processes without a `started` entry: they would stay forever.
void remove_leftovers_of_dead(const Ledger::Settings& settings, const KeyFolder& keys) {
  (void)InstanceLock::count_living(settings.data_folder);
  keys.remove_leftovers();
  if (!settings.checkpoint_copy.empty()) remove_leftovers_of(settings.checkpoint_copy);
}

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(Parts parts, Settings settings) {
  SALLYPORT_CHECK_OK(make_private_folder(settings.data_folder));
  SALLYPORT_TRY(KeyFolder keys, KeyFolder::open(settings.data_folder));
  SALLYPORT_TRY(std::string digest_key, keys.digest_key(parts.entropy));
  SALLYPORT_TRY(std::string box_key, keys.box_key(parts.entropy));
  const std::string instance_id = uuid7_text(parts.clock, parts.entropy);
  SALLYPORT_TRY(std::unique_ptr<Membership> membership,
                parts.store.join({instance_id, key_ids(digest_key, box_key)}));
  if (!membership) {
    SALLYPORT_TRY(membership, LocalMembership::join(settings.data_folder, instance_id));
  } else {
    settings.unverified_host = parts.store.unverified_host();
    settings.reserve_bytes = 0;  // the disk is that of the database
    settings.in_place = false;   // no loop stands still for a network
  }
  if (!settings.passing) remove_leftovers_of_dead(settings, keys);
  SALLYPORT_TRY(const bool has_signed, keys.has_signed());
  std::shared_ptr<const Signer> key;
  const auto digest = std::make_shared<const KeyedDigest>(std::move(digest_key));
  SALLYPORT_CHECK_OK(check_seals_of(parts.store, digest));
  // Read before the view begins: another process may write both meanwhile, and the kept checkpoint
  // must not be newer than the view.
  SALLYPORT_TRY(const std::optional<std::string> kept, kept_checkpoint(settings));
  SALLYPORT_CHECK_OK(parts.store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(check_not_moved(view, *membership));
    SALLYPORT_TRY(key, find_key(view, keys, has_signed, settings.origin, parts.entropy));
    constexpr std::uint64_t kPassing = 64;
    constexpr std::uint64_t kStarting = 4096;
    SALLYPORT_CHECK_OK(
        check_before_writing(view, key->verifier(), settings.passing ? kPassing : kStarting));
    SALLYPORT_CHECK_OK(check_kept_checkpoint(view, settings, kept, key->verifier()));
    return {};
  }));
  Secrets secrets{digest, SecretBox(box_key)};
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(parts), std::move(settings), std::move(keys),
                                            std::move(secrets), std::move(membership),
                                            std::move(key), instance_id));
  SALLYPORT_CHECK_OK(ledger->start());
  return ledger;
}

Result<void> Ledger::start() {
  const MutexLock pen(pen_);
  SALLYPORT_CHECK_OK(reserve_.keep());
  Group first;
  std::vector<std::size_t> closed;  // indexes of the records of calls that dead processes left
  first.compose = [&](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(std::vector<core::Draft> drafts, opening_drafts(view));
    closed = records_among(drafts);
    return drafts;
  };
  first.accepts_unsealed = !settings_.acknowledged_rollback.empty();
  SALLYPORT_CHECK_OK(committer_.commit({&first}));
  if (!first.result) return std::unexpected(first.result.error());
  if (settings_.announced) committer_.joined();
  parts_.store.check_seals_with(digest_);  // also if a person has just accepted rows without seals
  note_late_records(*first.result, closed);
  SALLYPORT_CHECK_OK(keys_.mark_signed(origin_));
  keep_checkpoint(!settings_.acknowledged_rollback.empty());
  if (membership_->by_lease()) {
    block_writer_ = std::make_unique<BlockWriter>(parts_.store, *digest_, *membership_);
  }
  writer_ = std::thread([this] { work(); });
  return {};
}

Result<std::vector<core::Draft>> Ledger::opening_drafts(WriteView& view) {
  const std::string key = committer_.verifier().text();
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  SALLYPORT_CHECK_OK(check_not_moved(view, *membership_));
  SALLYPORT_CHECK_OK(finish_rotation(view));
  SALLYPORT_CHECK_OK(check_identity(view));
  std::vector<core::Draft> drafts;
  if (size == 0) {
    core::Draft created = control("key_created", {{"key", key}});
    created.facts.push_back({"ledger", "key", key});
    drafts.push_back(std::move(created));
  }
  if (!settings_.acknowledged_rollback.empty()) {
    drafts.push_back(
        control("rollback_acknowledged", {{"who", settings_.acknowledged_by},
                                          {"size", size},
                                          {"reason", settings_.acknowledged_rollback}}));
  }
  if (!settings_.announced) return drafts;
  DeadProcesses dead(view, *membership_, parts_.close_interrupted);
  SALLYPORT_CHECK_OK(dead.find());
  if (size > 0 && !dead.anyone_alive()) {
    SALLYPORT_TRY(core::Draft gap, gap_entry(view, size, !dead.names().empty()));
    drafts.push_back(std::move(gap));
  }
  if (parts_.close_interrupted) SALLYPORT_CHECK_OK(dead.close_calls());
  SALLYPORT_CHECK_OK(dead.close_fail_open("restart"));
  std::ranges::move(dead.take_drafts(), std::back_inserter(drafts));
  core::Draft started = started_entry(settings_, key);
  started.facts.push_back({"instance", instance_.get(), "{}"});
  for (const std::string& name : dead.names()) {
    started.facts.push_back({"instance", name, std::nullopt});
  }
  drafts.push_back(std::move(started));
  return drafts;
}

}  // namespace sallyport::ledger
