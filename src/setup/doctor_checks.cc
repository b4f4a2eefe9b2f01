#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/encoding.h"
#include "base/try.h"
#include "core/record/draft.h"
#include "external/peer.h"
#include "guards/detect/detectors.h"
#include "hook/dialect.h"
#include "ledger/member/instance_lock.h"
#include "ledger/proof/key_history.h"
#include "ledger/secret/key_folder.h"
#include "ledger/secret/private_file.h"
#include "ledger/write/seals.h"
#include "ledger/write/start_check.h"
#include "machine/environment.h"
#include "machine/network_fs.h"
#include "mcp/message/bridge_log.h"
#include "people/registered_reviewers.h"
#include "policy/policy_loader.h"
#include "setup/doctor.h"
#include "setup/settings_file.h"
#include "setup/wiring.h"
#include "terminal/exit_code.h"
#include "terminal/input.h"
#include "trust/approver_book.h"
#include "trust/standing.h"

namespace sallyport::app {

namespace {

class Examination {
 public:
  explicit Examination(const Context& context) : context_(context) {}

  std::vector<Check> run() {
    configuration();
    if (place_.data_dir.empty()) return std::move(checks_);
    file_system();
    folders();
    space();
    ledger();
    writers();
    detectors();
    policy();
    externals();
    controls();
    bridging();
    hooks();
    return std::move(checks_);
  }

 private:
  void ok(std::string name, std::string detail) {
    checks_.push_back({std::move(name), Finding::Ok, std::move(detail), ""});
  }
  void warn(std::string name, std::string detail, std::string advice) {
    checks_.push_back({std::move(name), Finding::Warn, std::move(detail), std::move(advice)});
  }
  void bad(std::string name, std::string detail, std::string advice) {
    // Most faults of the ledger say this themselves.
    constexpr std::string_view kVerify = "run `sallyport ledger verify`";
    const bool told = detail.contains(kVerify) || detail.contains("; restore it from a backup");
    if (advice.starts_with(kVerify) && told) advice.clear();
    checks_.push_back({std::move(name), Finding::Fail, std::move(detail), std::move(advice)});
  }

  void configuration() {
    place_.allow_network_fs = context_.globals.allow_network_fs;
    const Result<std::optional<std::filesystem::path>> file = context_.config_file();
    if (!file) return bad("config", file.error().message, "give --data-dir");
    // A file that --config names may name the folder, so the folder may be known only with it.
    const bool needs_file = context_.globals.config && !context_.globals.data_dir;
    const Result<std::filesystem::path> folder =
        needs_file ? context_.data_dir() : context_.named_data_dir();
    if (folder) place_.data_dir = *folder;
    if (!*file) return ok("config", "no file, defaults are in force");
    Result<Config> config = load_config(**file);
    if (!config) {
      return bad("config", with_place(config.error()),
                 "repair the file, or name another with --config");
    }
    place_.config = std::move(*config);
    ok("config", (*file)->string());
  }

  void file_system() {
    const Result<std::string> network = network_file_system(place_.data_dir);
    if (!network) return bad("file system", network.error().message, "check the mount");
    if (network->empty()) return ok("file system", "local");
    if (place_.allow_network_fs || place_.config.ledger.allow_network_fs) {
      return warn("file system", *network + ", allowed",
                  "keep the ledger on a local disk if you can");
    }
    bad("file system", *network + " is a network file system",
        "move the data folder to a local disk, or give --allow-network-fs");
  }

  void folders() {
    struct stat status{};
    if (::stat(place_.data_dir.c_str(), &status) != 0) {
      if (errno == ENOENT) {
        return ok("data folder", place_.data_dir.string() + " is not there yet, made on first use");
      }
      return bad("data folder", place_.data_dir.string() + ": " + std::strerror(errno),
                 "name another with --data-dir");
    }
    if (!S_ISDIR(status.st_mode)) {
      return bad("data folder", place_.data_dir.string() + " is not a folder",
                 "name another with --data-dir");
    }
    const std::size_t before = checks_.size();
    look_at(place_.data_dir, "data folder", 0700);
    look_at(place_.data_dir / "keys", "keys folder", 0700);
    for (const char* const key : {"signing.key", "digest.key", "box.key", "origin"}) {
      look_at(place_.data_dir / "keys" / key, key, 0600);
    }
    for (const char* const key : {"digest.key", "box.key"}) look_into(key);
    look_at(place_.ledger_file(), "ledger file", 0600);
    if (checks_.size() == before) {
      ok("data folder", place_.data_dir.string() + ", modes and owners are right");
    }
  }

  // Says something only when owner or mode are wrong.
  void look_at(const std::filesystem::path& path, const std::string& name, mode_t mode) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return;
    if (status.st_uid != geteuid()) {
      return bad(name,
                 fmt::format("{} belongs to user {}, this is user {}", path.string(), status.st_uid,
                             geteuid()),
                 "run as its owner");
    }
    const mode_t extra = status.st_mode & 0777 & ~mode;
    if (extra == 0) return;
    bad(name,
        fmt::format("{} has mode {:04o}, other users can read it", path.string(),
                    status.st_mode & 0777),
        fmt::format("chmod {:04o} {}", mode, path.string()));
  }

  // An unusable key stops every writing command.
  void look_into(const char* key) {
    const auto text = ledger::read_private_file(place_.data_dir / "keys" / key);
    if (!text || !*text) return;  // its mode is reported already; a missing one is created
    if ((*text)->size() == 65 && from_hex(std::string_view(**text).substr(0, 64))) return;
    bad(key, (place_.data_dir / "keys" / key).string() + " is spoiled", "restore it from a copy");
  }

  void space() {
    std::filesystem::path existing = place_.data_dir;
    std::error_code code;
    while (!std::filesystem::exists(existing, code) && existing.has_parent_path() &&
           existing != existing.parent_path()) {
      existing = existing.parent_path();
    }
    struct statvfs status{};
    if (!std::filesystem::exists(existing, code)) existing = ".";
    if (::statvfs(existing.c_str(), &status) != 0) {
      return warn("free space", std::strerror(errno), "check the mount");
    }
    constexpr std::uint64_t kMiB = 1u << 20;
    const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
    const std::uint64_t reserve = place_.config.ledger.reserve_bytes;
    const std::string detail =
        fmt::format("{} MiB free, {} MiB kept in reserve", free / kMiB, reserve / kMiB);
    if (free < reserve) return bad("free space", detail, "make room: calls are refused without it");
    if (free < 4 * reserve + 64 * kMiB) return warn("free space", detail, "make room soon");
    ok("free space", detail);
  }

  // GR-79: the policy in force, and why a newer one was refused.
  void policy() {
    if (!policy_hash_) return ok("policy", "none was loaded yet");
    const auto loaded = core::split_place(policy_loaded_.value_or(""));
    const std::size_t blank = loaded ? loaded->value.find(' ') : std::string::npos;
    if (blank == std::string::npos) return ok("policy", "last loaded: " + *policy_hash_);
    const std::string in_force =
        fmt::format("{}, generation {}, {}", loaded->value.substr(blank + 1),
                    loaded->value.substr(0, blank), *policy_hash_);
    const auto refused = core::split_place(policy_refused_.value_or(""));
    if (!refused) return ok("policy", in_force);
    warn("policy",
         fmt::format("{} stays in force; the newer policy `{}` was refused", in_force,
                     refused->value),
         fmt::format("correct it; `sallyport ledger show {}` says why", refused->sequence));
  }

  // RU-68: can each program of the policy that was loaded last be started?
  void externals() {
    const auto loaded = core::split_place(policy_loaded_.value_or(""));
    const std::size_t blank = loaded ? loaded->value.find(' ') : std::string::npos;
    if (blank == std::string::npos) return;
    const auto origin = policy::PolicyOrigin::named(loaded->value.substr(blank + 1));
    const Result<policy::Policy> read = origin.read(nullptr);
    if (!read || read->external.empty()) return;  // another check reports why
    const std::string home = context_.environment.home.value_or("");
    const auto scope = policy::scope_of(*read, {.home = home});
    for (const external::Entry& entry : read->external) {
      const Result<void> good = external::check_peer(entry, scope->workspaces());
      if (!good) {
        bad(entry.name(), good.error().message,
            fmt::format("repair it or change {}; until then the calls that it guards are denied",
                        good.error().where));
        continue;
      }
      std::vector<std::string> missing;
      for (const auto& [header, variable] : entry.header_env) {
        if (!variable_of_this_process(variable)) missing.push_back(variable);
      }
      for (const std::string& variable : entry.env) {
        if (!variable_of_this_process(variable)) missing.push_back(variable);
      }
      if (missing.empty()) {
        ok(entry.name(), entry.url.empty() ? entry.command.front() + " can be started"
                                           : "the address may be asked");
      } else {
        warn(entry.name(), fmt::format("not set here: {}", fmt::join(missing, ", ")),
             "set the variable where the gate is started");
      }
    }
  }

  // TR-18: promotions and demotions that no registered person has signed. Fronts ignore them.
  void controls() {
    if (standings_.empty()) return;
    Result<trust::Reviewers> reviewers = registered_reviewers(context_);
    if (!reviewers) {
      return warn("trust", reviewers.error().message,
                  "without the reviewers it is unknown which promotions count");
    }
    const trust::ApproverBook people(std::move(*reviewers));
    std::vector<std::string> ignored;
    for (const core::Fact& fact : standings_) {
      const auto history = trust::ControlHistory::parse(fact.value.value_or(""));
      std::vector<std::string> lines;
      if (history) (void)history->proven(fact.key, origin_, &people, &lines);
      if (!history) lines.push_back(history.error().message);
      for (const std::string& line : lines) ignored.push_back(fact.key + ": " + line);
    }
    if (ignored.empty()) return ok("trust", "all promotions and demotions are signed");
    constexpr std::size_t kShown = 5;
    const std::size_t more = ignored.size() - std::min(ignored.size(), kShown);
    ignored.resize(std::min(ignored.size(), kShown));
    bad("trust",
        fmt::format("not signed by a registered controller, and so ignored: {}{}",
                    fmt::join(ignored, "; "), more ? fmt::format("; and {} more", more) : ""),
        "find out who wrote them (`sallyport trust verify`); a controller who means it runs "
        "`sallyport trust promote` or `demote` again");
  }

  // Features that were lost between clients and tool servers.
  void bridging() {
    std::string counts;
    for (const core::Fact& fact : degraded_) {
      counts +=
          fmt::format("{}{} {}", counts.empty() ? "" : ", ", fact.key, fact.value.value_or(""));
    }
    if (counts.empty()) return ok("bridge", "nothing was declined or dropped");
    warn("bridge", "declined or dropped between client and server: " + counts,
         "`sallyport ledger show --topic bridge` says when and for which server; docs/mcp.md why");
  }

  bool has_signed() const {
    std::error_code code;
    return std::filesystem::exists(place_.data_dir / "keys" / "origin", code);
  }

  void lost() {
    bad("ledger", "it is gone, and its key has signed one before",
        "restore the ledger file, or move the keys folder away to begin a new log");
  }

  void ledger() {
    std::error_code code;
    if (!place_.config.ledger.shared && !std::filesystem::exists(place_.ledger_file(), code)) {
      if (code && code != std::errc::not_a_directory) {
        return bad("ledger", place_.ledger_file().string() + ": " + code.message(),
                   "run as the owner of the folder");
      }
      if (has_signed()) return lost();
      return ok("ledger", "not there yet, made on first use");
    }
    // Before the ledger: a witness is never newer than what is committed by then.
    const auto witness = place_.witness_file().empty()
                             ? Result<std::optional<std::string>>(std::nullopt)
                             : ledger::read_private_file(place_.witness_file());
    Workspace::Place place = place_;
    place.allow_network_fs = true;  // judged above
    const auto workspace = Workspace::open_reading(place);
    if (!workspace) {
      return bad("ledger", workspace.error().message,
                 place_.config.ledger.shared ? "docs/cluster.md says what a database needs"
                                             : "run `sallyport ledger verify`");
    }
    if (place_.config.ledger.shared) store((*workspace)->store());
    const Result<void> read =
        (*workspace)->store().read([&](ledger::ReadView& view) -> Result<void> {
          SALLYPORT_TRY(const std::uint64_t size, view.size());
          count_entries((*workspace)->store(), size);
          if (size == 0) return {};
          SALLYPORT_TRY(policy_hash_, view.fact("policy", "hash"));
          SALLYPORT_TRY(policy_loaded_, view.fact("policy", "loaded"));
          SALLYPORT_TRY(policy_refused_, view.fact("policy", "refused"));
          SALLYPORT_TRY(degraded_, view.facts(mcp::kDegradedSpace));
          SALLYPORT_TRY(standings_, view.facts(trust::kStandingSpace));
          SALLYPORT_TRY(const std::vector<ledger::KeyPeriod> keys, ledger::key_history(view));
          if (!keys.empty()) origin_ = keys.front().key.name;
          SALLYPORT_CHECK_OK(newest_checkpoint(view, size));
          SALLYPORT_CHECK_OK(kept_witness(view, witness));
          std::ranges::move(examine_witnesses(view, place_.config.ledger),
                            std::back_inserter(checks_));
          return last_entry(view, size, (*workspace)->clock());
        });
    if (!read) bad("ledger", read.error().message, "run `sallyport ledger verify`");
  }

  void count_entries(const ledger::LedgerStore& store, std::uint64_t size) {
    if (size == 0 && has_signed()) {
      return bad("ledger", "it is empty, and its key has signed one before",
                 "restore the ledger file, or move the keys folder away to begin a new log");
    }
    const std::string entries = fmt::format("{} entries", size);
    if (!store.is_newer()) return ok("ledger", entries);
    bad("ledger", entries + ", written by a newer release: this one takes no calls with it",
        "use that release");
  }

  // A log that several machines share.
  void store(ledger::LedgerStore& store) {
    const Result<std::string> condition = store.condition();
    if (condition) return ok("store", *condition);
    bad("store", condition.error().message, "docs/cluster.md says what a database needs");
  }

  void facts(ledger::ReadView& view) {
    const auto secret = ledger::KeyFolder::kept_digest_key(place_.data_dir);
    // Already reported: others can read the file.
    if (!secret && secret.error().cause == "not_private") return;
    const KeyedDigest digest(secret ? secret->value_or("") : "");
    const auto state = ledger::newest_state(view, digest);
    if (!state) return bad("facts", state.error().message, "run `sallyport ledger verify`");
    if (!*state) return;
    const Result<void> good = ledger::check_facts(view, digest, (*state)->sums);
    if (good) return;
    const auto changed = ledger::changed_facts(view, digest);
    std::string names;
    for (const std::string& name : changed ? *changed : std::vector<std::string>{}) {
      names += (names.empty() ? "" : "; ") + visible(name);
    }
    bad("facts", names.empty() ? good.error().message : names,
        "find out why, then run `sallyport ledger acknowledge --reason TEXT`");
  }

  Result<void> newest_checkpoint(ledger::ReadView& view, std::uint64_t size) {
    SALLYPORT_TRY(const std::optional<std::string> key, view.fact("ledger", "key"));
    const Result<ledger::VerifierKey> verifier = ledger::VerifierKey::parse(key.value_or(""));
    if (!verifier) {
      bad("checkpoint", "the ledger does not name its key", "run `sallyport ledger verify`");
      return {};
    }
    const Result<void> good = ledger::check_before_writing(view, *verifier);
    if (!good) {
      bad("checkpoint", good.error().message, "run `sallyport ledger verify` for the place");
      return {};
    }
    ok("checkpoint", fmt::format("size {} signed by {}", size, verifier->text()));
    const std::string& origin = place_.config.ledger.origin;
    if (!origin.empty() && origin != verifier->name) {
      bad("origin",
          fmt::format("ledger.origin is `{}`, the ledger began as `{}`", origin, verifier->name),
          "remove the setting: the name of a ledger never changes");
    }
    facts(view);
    const auto stored = ledger::read_private_file(place_.key_file());
    if (!stored || !*stored) {
      // Already reported: others can read the file.
      if (!stored && stored.error().cause == "not_private") return {};
      bad("signing key", stored ? "it is not in the keys folder" : stored.error().message,
          "restore it from a copy: without it nothing can be appended");
      return {};
    }
    const Result<ledger::SigningKey> signing = ledger::SigningKey::parse(**stored);
    if (signing && signing->verifier() == *verifier) return {};
    bad("signing key", "it is not the key this ledger is signed with", "restore the right one");
    return {};
  }

  Result<void> kept_witness(ledger::ReadView& view,
                            const Result<std::optional<std::string>>& witness) {
    if (!witness) {
      bad("witness", witness.error().message, "correct the file's mode or owner");
      return {};
    }
    if (place_.witness_file().empty()) {
      warn("witness", "none is kept, so a ledger that was cut back is not noticed at start",
           "set ledger.witness_path, best on another disk");
      return {};
    }
    if (!*witness) {
      warn("witness", "not there yet", "it is written by the next process that appends");
      return {};
    }
    SALLYPORT_TRY(const std::vector<ledger::KeyPeriod> keys, ledger::key_history(view));
    const Result<void> agrees = ledger::check_against(view, **witness, keys);
    if (agrees) {
      ok("witness", place_.witness_file().string() + " agrees");
    } else {
      bad("witness", agrees.error().message,
          "find out why, then run `sallyport ledger acknowledge --reason TEXT`");
    }
    return {};
  }

  Result<void> last_entry(ledger::ReadView& view, std::uint64_t size, const Clock& clock) {
    SALLYPORT_TRY(const std::optional<ledger::StoredEntry> last, view.entry(size - 1));
    if (!last || !last->bytes) return {};
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*last->bytes));
    const std::optional<WallTime> time = from_rfc3339(entry.recorded_at);
    if (time && *time > clock.wall() + std::chrono::seconds(1)) {
      warn("clock",
           fmt::format("the last entry is from {}, which is in the future", entry.recorded_at),
           "set the clock; the step will be recorded");
    } else {
      ok("clock", "not before the last entry of " + entry.recorded_at);
    }
    return {};
  }

  void writers() {
    if (place_.config.ledger.shared) return;  // the store reports them
    ok("writers", fmt::format("{} live", ledger::InstanceLock::count_living(place_.data_dir)));
  }

  void detectors() {
    const auto built = guards::Detectors::build();
    if (built) return ok("detectors", "the pattern engine runs on this processor");
    bad("detectors", built.error().message,
        "secrets could not be redacted here; use another machine");
  }

  // The events whose hook Codex does not run; empty: it runs all of ours.
  static std::string not_trusted(const SettingsFile& hooks) {
    constexpr std::size_t kLargest = 8u << 20;
    const Result<std::string> config =
        read_input(hooks.path().parent_path() / "config.toml", kLargest);
    return fmt::format("{}", fmt::join(codex_hooks_not_run(hooks.path(), hooks.content(),
                                                           config ? *config : std::string()),
                                       ", "));
  }

  // Reports nothing about agents whose settings have no hook of ours.
  void hooks() {
    if (!context_.environment.home) return;
    const std::filesystem::path home(*context_.environment.home);
    for (const std::string& agent : hook::dialect_names()) {
      const Result<SettingsFile> file = SettingsFile::read(home / agent_settings(agent));
      const auto installed = file ? installed_hook(file->content(), agent) : std::nullopt;
      if (!installed) continue;
      const std::string name = "hook of " + agent;
      if (::access(installed->program.c_str(), X_OK) != 0) {
        bad(name, installed->program + " cannot be run",
            fmt::format("run `sallyport init --agent {}` again", agent));
      } else if (!installed->missing.empty()) {
        bad(name,
            fmt::format("the hook is missing for {} in {}", fmt::join(installed->missing, ", "),
                        file->path().string()),
            fmt::format("run `sallyport init --agent {}` again", agent));
      } else if (const std::string off = agent == "codex" ? not_trusted(*file) : ""; !off.empty()) {
        bad(name, fmt::format("codex does not run it for {}: it is not trusted", off),
            "start codex, type `/hooks`, and trust the hooks of sallyport");
      } else if (!installed->blocks_on_failure) {
        warn(name, "the agent runs the tool anyway if its hook fails",
             "where this matters, use an agent that blocks the call if its hook fails");
      } else {
        ok(name, file->path().string());
      }
    }
  }

  std::optional<std::string> policy_hash_;     // of the one that was loaded last
  std::optional<std::string> policy_loaded_;   // its generation and source, and where that stands
  std::optional<std::string> policy_refused_;  // where a newer one is wrong, likewise
  std::vector<core::Fact> degraded_;
  std::vector<core::Fact> standings_;  // promotions and demotions, by agent
  std::string origin_;
  const Context& context_;
  Workspace::Place place_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> examine_installation(const Context& context) {
  return Examination(context).run();
}

}  // namespace sallyport::app
