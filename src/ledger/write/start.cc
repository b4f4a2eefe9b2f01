// How a ledger opens for writing: what it checks, what it closes, what it announces.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "ledger/copy_ledger.h"
#include "ledger/ledger.h"
#include "ledger/member/instance_lock.h"
#include "ledger/member/local_membership.h"
#include "ledger/read/query.h"
#include "ledger/secret/private_file.h"
#include "ledger/write/opening_check.h"

namespace sallyport::ledger {

namespace {

std::string random_origin(Entropy& entropy) {
  std::array<std::uint8_t, 16> bytes;
  entropy.fill(bytes);
  return "sallyport.local/" + hex(bytes);
}

// The key that the ledger is signed with, also when a rotation was cut short between its commit and
// the exchange of the files. `has_signed` was asked before the view began: what another process
// commits in between must not look like a log that is gone.
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

// Two folders whose keys differ must not write one log: what one wrote the other could not check or
// open.
std::map<std::string, std::string> key_ids(const std::string& digest_key,
                                           const std::string& box_key) {
  const auto id = [](const std::string& key) {
    return hex(KeyedDigest(key).bytes("sallyport/key-id/v1")).substr(0, 16);
  };
  return {{"digest.key", id(digest_key)}, {"box.key", id(box_key)}};
}

// A log that was copied into a database goes on there, and only there (SC-4).
Result<void> check_not_moved(ReadView& view, const Membership& membership) {
  SALLYPORT_TRY(const std::optional<std::string> elsewhere, moved_to(view));
  if (!elsewhere || membership.by_lease()) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("this ledger was moved to {}; name that under ledger.store in the "
                          "configuration",
                          *elsewhere));
}

// Nothing: there is none, or a person has looked at it.
Result<std::optional<std::string>> kept_checkpoint(const Ledger::Settings& settings) {
  if (settings.witness.empty() || !settings.acknowledged_rollback.empty()) return std::nullopt;
  return read_private_file(settings.witness);
}

Result<void> check_witness(ReadView& view, const Ledger::Settings& settings,
                           const std::optional<std::string>& kept, const VerifierKey& key) {
  if (!kept) return {};
  // Mostly the key of now signed it; for the earlier ones the whole ledger has to be looked
  // through.
  if (check_against(view, *kept, {{.key = key}})) return {};
  SALLYPORT_TRY(const std::vector<KeyPeriod> keys, key_history(view));
  Result<void> same = check_against(view, *kept, keys);
  if (same) return {};
  return fail(ErrorCode::Corrupt,
              fmt::format("{} (witness {}); find out why, then run `sallyport ledger acknowledge "
                          "--reason TEXT`",
                          same.error().message, settings.witness.string()),
              {}, "corrupt");
}

constexpr std::size_t kMostCallsAtOnce = 500;

// Everything about a start that is read from and written to the same transaction.
class Start {
 public:
  Start(WriteView& view, const Ledger::Settings& settings, const Membership& members,
        const Ledger::Close& close, const std::string& instance_id)
      : view_(view),
        settings_(settings),
        members_(members),
        close_(close),
        instance_id_(instance_id) {}

  void say_created(const std::string& key) {
    core::Draft created = control("key_created", {{"key", key}});
    created.facts.push_back({"ledger", "key", key});
    drafts.push_back(std::move(created));
  }

  Result<void> find_dead() {
    SALLYPORT_TRY(const std::vector<core::Fact> instances, view_.facts("instance"));
    for (const core::Fact& instance : instances) {
      if (members_.alive(instance.key)) {
        ++alive_;
      } else {
        dead_.push_back(instance.key);
      }
    }
    return {};
  }

  Result<void> say_gap(std::uint64_t size) {
    if (alive_ > 0) return {};
    SALLYPORT_TRY(const std::optional<StoredEntry> last, view_.entry(size - 1));
    json::object details{{"clean", dead_.empty()}};
    if (last->bytes) {
      SALLYPORT_TRY(const EntryView entry, view_entry(*last->bytes));
      details["last_entry_at"] = entry.recorded_at;
    }
    drafts.push_back(control("gap", std::move(details)));
    return {};
  }

  // Also of processes that stopped in good order and left a call behind.
  Result<void> close_calls() {
    return close_calls([this](const std::string& instance) { return !members_.alive(instance); });
  }

  // Closes the open calls of an instance that ended while this process runs. Closes a bounded number,
  // so that writers do not wait long. Returns how many calls were open; those beyond the bound stay
  // open for the next time.
  Result<std::size_t> close_calls_of(const std::string& lost) {
    std::size_t calls = 0;
    SALLYPORT_CHECK_OK(close_calls([&](const std::string& instance) {
      return instance == lost && ++calls <= kMostCallsAtOnce;
    }));
    dead_.push_back(lost);
    return calls;
  }

  // The value names who opened the call and the entry that says so: `instance@sequence`.
  Result<void> close_calls(const std::function<bool(const std::string&)>& is_dead) {
    SALLYPORT_TRY(const std::vector<core::Fact> open_calls, view_.facts("open_call"));
    for (const core::Fact& open : open_calls) {
      const std::optional<core::Placed> placed = core::split_place(*open.value);
      if (!placed || !is_dead(placed->value)) continue;
      SALLYPORT_TRY(const std::optional<StoredEntry> stored, view_.entry(placed->sequence));
      if (stored && stored->bytes) {
        SALLYPORT_TRY(const json::object entry, opened_entry(*stored));
        for (core::Draft& draft : close_(entry)) drafts.push_back(std::move(draft));
      }
      // Whatever was found, the call is closed now.
      SALLYPORT_CHECK_OK(view_.put_fact({"open_call", open.key, std::nullopt}));
    }
    return {};
  }

  Result<void> close_fail_open(std::string_view ended_by = "restart") {
    SALLYPORT_TRY(const std::vector<core::Fact> open, view_.facts("fail_open"));
    for (const core::Fact& interval : open) {
      SALLYPORT_TRY(const json::value value, parse_own_json(*interval.value));
      const json::object* const state = value.if_object();
      const std::string instance = state ? text_or_empty(*state, "instance") : "";
      if (instance.empty()) {
        return ledger_unavailable("corrupt",
                                  "a fact `fail_open` is damaged; run `sallyport ledger verify`");
      }
      if (!is_dead(instance)) continue;
      json::object details{{"ended_by", ended_by}};
      for (const char* const name : {"guard", "cause", "calls"}) {
        if (const json::value* const said = state->if_contains(name)) details[name] = *said;
      }
      core::Draft ended = control("fail_open_ended", std::move(details));
      ended.facts.push_back({"fail_open", interval.key, std::nullopt});
      drafts.push_back(std::move(ended));
    }
    return {};
  }

  void say_started(const std::string& key) {
    json::object details{
        {"role", settings_.role}, {"process", static_cast<std::int64_t>(getpid())}, {"key", key}};
    if (!settings_.network_file_system.empty()) {
      details["network_file_system"] = settings_.network_file_system;
    }
    if (!settings_.unverified_host.empty()) details["unverified_host"] = settings_.unverified_host;
    core::Draft started = control("started", std::move(details));
    started.facts.push_back({"instance", instance_id_, "{}"});
    for (const std::string& dead : dead_) started.facts.push_back({"instance", dead, std::nullopt});
    drafts.push_back(std::move(started));
  }

  std::vector<core::Draft> drafts;

 private:
  bool is_dead(std::string_view instance) const {
    return std::ranges::find(dead_, instance) != dead_.end();
  }

  WriteView& view_;
  const Ledger::Settings& settings_;
  const Membership& members_;
  const Ledger::Close& close_;
  const std::string& instance_id_;
  std::size_t alive_ = 0;
  std::vector<std::string> dead_;
};

// Those among the drafts that end a call, whose sinks have not heard of it.
std::vector<std::size_t> records_among(const std::vector<core::Draft>& drafts) {
  std::vector<std::size_t> records;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].kind == core::Kind::ToolAudit) records.push_back(i);
  }
  return records;
}

// Of processes that were killed. Locks of such as never said `started` would stay for ever.
void remove_what_the_dead_left(const Ledger::Settings& settings, const KeyFolder& keys) {
  (void)InstanceLock::count_living(settings.data_folder);
  keys.remove_leftovers();
  if (!settings.witness.empty()) remove_leftovers_of(settings.witness);
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
  if (!settings.passing) remove_what_the_dead_left(settings, keys);
  SALLYPORT_TRY(const bool has_signed, keys.has_signed());
  std::shared_ptr<const Signer> key;
  const auto digest = std::make_shared<const KeyedDigest>(std::move(digest_key));
  SALLYPORT_CHECK_OK(check_seals_of(parts.store, digest));
  // Before the view is taken: another process may write both meanwhile, and what is kept must not
  // be newer than what it is held against.
  SALLYPORT_TRY(const std::optional<std::string> kept, kept_checkpoint(settings));
  SALLYPORT_CHECK_OK(parts.store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(check_not_moved(view, *membership));
    SALLYPORT_TRY(key, find_key(view, keys, has_signed, settings.origin, parts.entropy));
    constexpr std::uint64_t kPassing = 64;
    constexpr std::uint64_t kStarting = 4096;
    SALLYPORT_CHECK_OK(
        check_before_writing(view, key->verifier(), settings.passing ? kPassing : kStarting));
    SALLYPORT_CHECK_OK(check_witness(view, settings, kept, key->verifier()));
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
  SALLYPORT_CHECK_OK(reserve_.keep());
  Group first;
  std::vector<std::size_t> closed;  // among the drafts, the records of calls that the dead left
  first.compose = [&](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(std::vector<core::Draft> drafts, opening_drafts(view));
    closed = records_among(drafts);
    return drafts;
  };
  first.accepts_unsealed = !settings_.acknowledged_rollback.empty();
  SALLYPORT_CHECK_OK(committer_.commit({&first}));
  if (!first.result) return std::unexpected(first.result.error());
  if (settings_.announced) committer_.joined();
  parts_.store.check_seals_with(digest_);  // also where a person has just accepted what had none
  note_unheard(*first.result, closed);
  SALLYPORT_CHECK_OK(keys_.mark_signed(origin_));
  keep_witness(!settings_.acknowledged_rollback.empty());
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
  Start start(view, settings_, *membership_, parts_.close_interrupted, instance_.get());
  if (size == 0) start.say_created(key);
  if (!settings_.acknowledged_rollback.empty()) {
    start.drafts.push_back(
        control("rollback_acknowledged", {{"who", settings_.acknowledged_by},
                                          {"size", size},
                                          {"reason", settings_.acknowledged_rollback}}));
  }
  if (!settings_.announced) return std::move(start.drafts);
  SALLYPORT_CHECK_OK(start.find_dead());
  if (size > 0) SALLYPORT_CHECK_OK(start.say_gap(size));
  if (parts_.close_interrupted) SALLYPORT_CHECK_OK(start.close_calls());
  SALLYPORT_CHECK_OK(start.close_fail_open());
  start.say_started(key);
  return std::move(start.drafts);
}

Result<Ledger::Closing> Ledger::close_calls_of(const Membership::Silent& lost) {
  Group group;
  std::vector<std::size_t> closed;
  Closing closing = Closing::Alive;
  group.compose = [&](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(const bool silent, membership_->is_still_silent(lost));
    if (!silent) return std::vector<core::Draft>{};
    Start start(view, settings_, *membership_, parts_.close_interrupted, instance_.get());
    SALLYPORT_TRY(const std::size_t calls, start.close_calls_of(lost.instance));
    SALLYPORT_CHECK_OK(start.close_fail_open("instance_lost"));
    SALLYPORT_TRY(const std::optional<std::string> named, view.fact("instance", lost.instance));
    closing = calls <= kMostCallsAtOnce ? Closing::Done : Closing::More;
    closed = records_among(start.drafts);
    if (named) {
      core::Draft told = control("instance_lost", {{"instance", lost.instance},
                                                   {"host", lost.host},
                                                   {"by", instance_.get()},
                                                   {"calls", calls}});
      // From here on its own commits are refused.
      told.facts.push_back({"instance", lost.instance, std::nullopt});
      start.drafts.push_back(std::move(told));
    }
    return std::move(start.drafts);
  };
  SALLYPORT_CHECK_OK(committer_.commit({&group}));
  if (!group.result) return std::unexpected(group.result.error());
  note_unheard(*group.result, closed);
  if (!closed.empty() && unheard_bell_) unheard_bell_();
  return closing;
}

void Ledger::close_lost() {
  const SteadyTime now = parts_.clock.steady();
  if (!membership_->by_lease() || !settings_.announced || !parts_.close_interrupted) return;
  if (!health().ok) return;
  std::vector<Membership::Silent> lost = membership_->silent();
  if (!lost_at_ || now - *lost_at_ >= std::chrono::seconds(1)) {
    lost_at_ = now;
    tell_clock_skew();
    // Who has no row of his own any more, and did not say that he stopped.
    const Result<std::vector<core::Fact>> named = facts("instance");
    for (const core::Fact& fact : named ? *named : std::vector<core::Fact>{}) {
      if (!membership_->alive(fact.key)) lost.push_back({fact.key, ""});
    }
  }
  for (const Membership::Silent& each : lost) {
    Result<Closing> closing = Closing::More;
    while (closing && *closing == Closing::More) closing = close_calls_of(each);
    if (!closing) return remember(std::unexpected(closing.error()));
    if (*closing == Closing::Done) membership_->forget(each);
  }
}

}  // namespace sallyport::ledger
