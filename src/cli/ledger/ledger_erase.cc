// What may be taken out of a ledger: values (erase) and bytes (prune).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/people/login.h"
#include "app/records/selection.h"
#include "app/terminal/output.h"
#include "base/json_members.h"
#include "base/try.h"
#include "cli/common_options.h"

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

// What the one control entry says of itself, for the person who asked.
void report(const Context& context, std::string_view verb, const json::object& said,
            std::optional<std::uint64_t> sequence) {
  const std::uint64_t count = number_in(said, "count").value_or(0);
  if (context.json()) {
    json::object object{{"dry_run", !sequence.has_value()}, {"count", count}};
    for (const char* const name : {"fields", "selection", "minimum_index"}) {
      if (const json::value* const value = said.if_contains(name)) object[name] = *value;
    }
    if (sequence) object["sequence"] = *sequence;
    return say(visible_json(canonical_json(object)));
  }
  say(sequence ? fmt::format("{} {}, recorded as entry {}", verb, count, *sequence)
               : fmt::format("would have {} {}; nothing was changed", verb, count));
  if (const json::value* const fields = said.if_contains("fields"); fields && fields->is_array()) {
    for (const json::value& field : fields->get_array()) {
      if (field.is_string()) say("  " + visible(field.get_string()));
    }
  }
}

// The body of the draft, seen on its way into the log.
ledger::Group::Compose overheard(ledger::Group::Compose compose, json::object& said) {
  return [compose = std::move(compose),
          &said](ledger::WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(std::vector<core::Draft> drafts, compose(view));
    if (!drafts.empty()) said = drafts.front().body.members();
    return drafts;
  };
}

Result<int> take_out(const Context& context, std::string_view verb,
                     const ledger::Group::Compose& compose, bool dry_run) {
  json::object said;
  const ledger::Group::Compose heard = overheard(compose, said);
  if (dry_run) {
    SALLYPORT_TRY(const Workspace::Place place, context.place());
    SALLYPORT_CHECK_OK(Workspace::rehearse(place, heard));
    report(context, verb, said, std::nullopt);
    return 0;
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  const Result<ledger::Positions> written = workspace->ledger().transact(heard);
  // Also when there was nothing left to take out: the run before may have been kept from scrubbing.
  const Result<void> scrubbed = workspace->store().scrub();
  if (!written) return std::unexpected(written.error());
  report(context, verb, said, written->empty() ? 0 : written->front().sequence);
  SALLYPORT_CHECK_OK(scrubbed);
  return 0;
}

// A rehearsal changes nothing, so it needs no login.
Result<std::string> who_takes_out(const Context& context, const LoginOptions& login, bool dry_run,
                                  std::string_view command) {
  if (dry_run) return who_runs_this();
  SALLYPORT_TRY(Person person, authorize_change(context, login, command));
  return std::move(person.who);
}

Result<int> ledger_erase(const Context& context, const EraseOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(ledger::Selection selection, selection_from(options.selection));
  SALLYPORT_TRY(const std::string who,
                who_takes_out(context, options.login, options.dry_run, "ledger erase"));
  return take_out(context,
                  "erased values:", ledger::erase(std::move(selection), who, options.reason),
                  options.dry_run);
}

Result<int> ledger_prune(const Context& context, const PruneOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(const std::uint64_t before, count_from(options.before, "--before"));
  SALLYPORT_TRY(const std::string who,
                who_takes_out(context, options.login, options.dry_run, "ledger prune"));
  return take_out(context, "pruned entries:", ledger::prune(before, who, options.reason),
                  options.dry_run);
}

const Command kLedgerErase(
    "ledger erase", "remove content; the proof stays", ledger_erase,
    [](Syntax& syntax, EraseOptions& options) {
      selection_options(syntax, options.selection);
      syntax.text("--path", options.selection.path, "only this field, as /body/result", "POINTER");
      syntax.text("--reason", options.reason, "why; becomes part of the record").required();
      person_options(syntax, options.login);
      syntax.flag("--dry-run", options.dry_run, "only say what would be removed");
    });

const Command kLedgerPrune(
    "ledger prune", "drop the bytes of old entries; their hashes stay", ledger_prune,
    [](Syntax& syntax, PruneOptions& options) {
      syntax.text("--before", options.before, "entries below this sequence", "SEQUENCE").required();
      syntax.text("--reason", options.reason, "why; becomes part of the record").required();
      person_options(syntax, options.login);
      syntax.flag("--dry-run", options.dry_run, "only say what would be dropped");
    });

}  // namespace

}  // namespace sallyport::app
