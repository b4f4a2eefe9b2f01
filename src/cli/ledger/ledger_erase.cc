// Removes values (erase) and bytes (prune) from a ledger.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/agents/session_erasure.h"
#include "autonomy/trust_memory.h"
#include "base/clock.h"
#include "base/entropy.h"
#include "base/json_members.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/read/look_at.h"
#include "people/login.h"
#include "records/selection.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct EraseOptions {
  SelectionOptions selection;
  std::string reason;
  bool dry_run = false;
  LoginOptions login;
};

struct PruneOptions {
  std::string before;
  std::string reason;
  bool dry_run = false;
  LoginOptions login;
};

// What a command removed, or would remove.
struct Removal {
  std::string verb;                         // of what is counted, such as `erased values:`
  json::object entry{};                     // the body of the one control entry
  std::optional<std::uint64_t> sequence{};  // of that entry; no value: nothing was changed
  std::size_t sessions = 0;                 // of our own agents
  bool sessions_left = false;               // they hold content of what is selected
};

void report_sessions(const Removal& removal) {
  if (removal.sessions > 0) {
    print_line(fmt::format("{}sessions of agents, with transcript and memory: {}",
                           removal.sequence ? "" : "would go too: ", removal.sessions));
  }
  if (removal.sessions_left) {
    print_line(
        "transcripts and memory of agents are in agents.db and stay; `--session` or `--agent` "
        "alone erases them too");
  }
}

void report(const Context& context, const Removal& removal) {
  const json::object& entry = removal.entry;
  const std::optional<std::uint64_t>& sequence = removal.sequence;
  const std::uint64_t count = number_in(entry, "count").value_or(0);
  if (context.json()) {
    json::object object{{"dry_run", !sequence.has_value()}, {"count", count}};
    for (const char* const name : {"fields", "selection", "minimum_index"}) {
      if (const json::value* const value = entry.if_contains(name)) object[name] = *value;
    }
    if (sequence) object["sequence"] = *sequence;
    if (removal.sessions > 0) object["sessions"] = removal.sessions;
    if (removal.sessions_left) object["sessions_left"] = true;
    return print_line(visible_json(canonical_json(object)));
  }
  print_line(sequence ? fmt::format("{} {}, recorded as entry {}", removal.verb, count, *sequence)
                      : fmt::format("would have {} {}; nothing was changed", removal.verb, count));
  if (const json::value* const fields = entry.if_contains("fields"); fields && fields->is_array()) {
    for (const json::value& field : fields->get_array()) {
      if (field.is_string()) print_line("  " + visible(field.get_string()));
    }
  }
  report_sessions(removal);
}

// The body of the draft, seen on its way into the log.
ledger::Group::Compose keeping_answer(ledger::Group::Compose compose, json::object& entry) {
  return [compose = std::move(compose),
          &entry](ledger::WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(std::vector<core::Draft> drafts, compose(view));
    if (!drafts.empty()) entry = drafts.front().body.members();
    return drafts;
  };
}

// Nothing was left to take out, but the run before may have been kept from scrubbing. A hold that
// came since then is not compared with what was erased, so any hold keeps the sessions.
Result<int> complete_removal(const Context& context, std::string_view verb, Workspace& workspace,
                             SessionErasure* sessions) {
  SALLYPORT_CHECK_OK(workspace.store().scrub());
  SALLYPORT_TRY(const std::vector<ledger::Hold> holds,
                ledger::look_at(workspace.store(), [](auto& view) { return ledger::holds(view); }));
  if (sessions != nullptr && holds.empty()) SALLYPORT_CHECK_OK(sessions->run());
  if (context.json()) {
    print_line(canonical_json(json::object{{"dry_run", false}, {"count", 0}}));
  } else {
    print_line(fmt::format("what was {} before is now gone from the files", verb));
  }
  return 0;
}

// `verb` is the verb of what is counted, such as `erased`. `sessions` is null if none can go.
Result<int> take_out(const Context& context, std::string_view verb, std::string_view counted,
                     const ledger::Group::Compose& compose, bool dry_run,
                     SessionErasure* sessions = nullptr) {
  Removal removal{.verb = fmt::format("{} {}", verb, counted)};
  if (sessions != nullptr) {
    SALLYPORT_TRY(removal.sessions, sessions->find());
    removal.sessions_left = sessions->leaves_sessions();
  }
  const ledger::Group::Compose keeping = keeping_answer(compose, removal.entry);
  if (dry_run) {
    SALLYPORT_TRY(const Workspace::Place place, context.place());
    SALLYPORT_CHECK_OK(Workspace::rehearse(place, keeping));
    report(context, removal);
    return 0;
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  const Result<ledger::Positions> written = workspace->ledger().transact(keeping);
  if (!written && written.error().cause == ledger::kRemovedBefore) {
    return complete_removal(context, verb, *workspace, sessions);
  }
  const Result<void> scrubbed = workspace->store().scrub();
  if (!written) return std::unexpected(written.error());
  const Result<std::size_t> gone = sessions ? sessions->run() : 0;
  removal.sequence = written->empty() ? 0 : written->front().sequence;
  removal.sessions = gone.value_or(0);
  report(context, removal);
  SALLYPORT_CHECK_OK(scrubbed);
  SALLYPORT_CHECK_OK(gone);
  return 0;
}

// A rehearsal changes nothing, so it needs no login.
Result<std::string> authorize_removal(const Context& context, const LoginOptions& login,
                                      bool dry_run, std::string_view command) {
  if (dry_run) return running_user();
  SALLYPORT_TRY(Person person, authorize_change(context, login, command));
  return std::move(person.who);
}

Result<int> ledger_erase(const Context& context, const EraseOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(ledger::Selection selection,
                selection_from(options.selection, "--since, --until or --path"));
  SALLYPORT_TRY(const std::string who,
                authorize_removal(context, options.login, options.dry_run, "ledger erase"));
  SessionErasure sessions(context, selection);
  const SystemClock clock;
  SystemEntropy entropy;
  return take_out(
      context, "erased", "values:",
      ledger::erase(std::move(selection), who, options.reason, ledger::Held::Refuse,
                    {.end = autonomy::closing_left(clock, entropy), .now = clock.wall()}),
      options.dry_run, &sessions);
}

Result<int> ledger_prune(const Context& context, const PruneOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(const std::uint64_t before, count_from(options.before, "--before"));
  SALLYPORT_TRY(const std::string who,
                authorize_removal(context, options.login, options.dry_run, "ledger prune"));
  return take_out(context, "pruned", "entries:", ledger::prune(before, who, options.reason),
                  options.dry_run);
}

const Command kLedgerErase(
    "ledger erase", "remove content; the proof stays", ledger_erase,
    [](Syntax& syntax, EraseOptions& options) {
      selection_options(syntax, options.selection);
      syntax.text("--path", options.selection.path, "only this field, as /body/result", "POINTER");
      syntax.text("--reason", options.reason, "reason; becomes part of the record").required();
      person_options(syntax, options.login);
      syntax.flag("--dry-run", options.dry_run, "only print what would be removed");
    });

const Command kLedgerPrune(
    "ledger prune", "drop the bytes of old entries; their hashes stay", ledger_prune,
    [](Syntax& syntax, PruneOptions& options) {
      syntax.text("--before", options.before, "entries below this sequence", "SEQUENCE").required();
      syntax.text("--reason", options.reason, "reason; becomes part of the record").required();
      person_options(syntax, options.login);
      syntax.flag("--dry-run", options.dry_run, "only print what would be dropped");
    });

}  // namespace

}  // namespace sallyport::app
