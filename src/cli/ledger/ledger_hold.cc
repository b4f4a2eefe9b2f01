// Holds forbid erasing and pruning; `acknowledge` lets a ledger go on that its witness contradicts.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/member/database_identity.h"
#include "ledger/proof/key_history.h"
#include "ledger/read/look_at.h"
#include "ledger/secret/key_folder.h"
#include "ledger/secret/private_file.h"
#include "ledger/write/seals.h"
#include "people/login.h"
#include "records/entry_text.h"
#include "records/selection.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct HoldAddOptions {
  std::optional<std::string> id;
  SelectionOptions selection;
  std::string reason;
  LoginOptions login;
};

struct HoldLiftOptions {
  std::string id;
  std::string reason;
  LoginOptions login;
};

struct AcknowledgeOptions {
  std::string reason;
  LoginOptions login;
};

// `note`: what a person should know about it; empty: nothing.
Result<int> record(const Context& context, Workspace& workspace, const std::string& id,
                   std::string_view verb, ledger::Group::Compose compose,
                   std::string_view note = {}) {
  SALLYPORT_TRY(const ledger::Positions written, workspace.ledger().transact(std::move(compose)));
  const std::uint64_t sequence = written.empty() ? 0 : written.front().sequence;
  if (context.json()) {
    json::object object{{"hold", id}, {"sequence", sequence}};
    if (!note.empty()) object["warning"] = note;
    print_line(visible_json(canonical_json(object)));
    return 0;
  }
  print_line(fmt::format("hold {} {}, recorded as entry {}", visible(id), verb, sequence));
  if (!note.empty()) print_line(fmt::format("warning: {}", note));
  return 0;
}

std::string fresh_id(Entropy& entropy) {
  std::array<std::uint8_t, 4> bytes;
  entropy.fill(bytes);
  return "hold-" + hex(bytes);
}

}  // namespace

Result<int> ledger_hold_add(const Context& context, const HoldAddOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(ledger::Selection selection, selection_from(options.selection));
  if (options.id) SALLYPORT_CHECK_OK(target_from(*options.id));
  if (options.id && options.id->find_first_not_of(' ') == std::string::npos) {
    return fail(ErrorCode::InvalidInput, "--id is empty; name the hold, or leave it out");
  }
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "ledger hold add"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  const std::string id = options.id.value_or(fresh_id(workspace->entropy()));
  // Before the hold is set, whose own entry may lie in its time span.
  SALLYPORT_TRY(const bool any, ledger::look_at(workspace->store(), [&](auto& view) {
                  return ledger::covers_any(view, selection);
                }));
  return record(context, *workspace, id, "set",
                ledger::set_hold(id, std::move(selection), person.who, options.reason),
                any ? "" : "no entry matches it yet");
}

Result<int> ledger_hold_lift(const Context& context, const HoldLiftOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "ledger hold lift"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  return record(context, *workspace, options.id, "lifted",
                ledger::lift_hold(options.id, person.who, options.reason));
}

Result<int> ledger_hold_list(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const std::vector<ledger::Hold> holds,
                ledger::look_at(workspace->store(), ledger::holds));
  if (holds.empty() && !context.json()) print_line("no holds");
  for (const ledger::Hold& hold : holds) {
    const json::object selection = hold.selection.to_json();
    print_line(context.json() ? visible_json(canonical_json(json::object{{"hold", hold.id},
                                                                         {"selection", selection},
                                                                         {"who", hold.actor},
                                                                         {"reason", hold.reason}}))
                              : fmt::format("{}  {}  {}  {}", fitted(visible(hold.id), 16),
                                            visible(hold.actor), compact_json(selection),
                                            visible(hold.reason)));
  }
  return 0;
}

namespace {

Result<std::optional<std::string>> kept_witness(const Workspace::Place& place) {
  if (place.witness_file().empty()) return std::nullopt;
  return ledger::read_private_file(place.witness_file());
}

// `Conflict` where nothing contradicts the ledger: an acknowledgement must be of something.
Result<void> check_contradicted(const Workspace::Place& place) {
  SALLYPORT_TRY(const std::optional<std::string> kept, kept_witness(place));
  SALLYPORT_TRY(const std::optional<std::string> secret,
                ledger::KeyFolder::kept_digest_key(place.data_dir));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, Workspace::open_reading(place));
  Result<void> agrees;
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    agrees = ledger::check_seals(view, KeyedDigest(secret.value_or("")));
    if (agrees) agrees = ledger::check_database(view, workspace->store().identity());
    if (!kept || !agrees) return {};
    SALLYPORT_TRY(const std::vector<ledger::KeyPeriod> keys, ledger::key_history(view));
    agrees = ledger::check_against(view, *kept, keys);
    return {};
  }));
  if (!agrees) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("there is nothing to acknowledge: {}",
                          kept ? "the ledger and its witness agree" : "no witness is kept"));
}

Result<int> ledger_acknowledge(const Context& context, const AcknowledgeOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  SALLYPORT_CHECK_OK(check_contradicted(place));
  SALLYPORT_TRY(const Person person,
                authorize_change(context, options.login, "ledger acknowledge"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace,
                Workspace::open_writing(place, {.role = "maintenance",
                                                .announced = false,
                                                .acknowledged_rollback = options.reason,
                                                .acknowledged_by = person.who}));
  SALLYPORT_TRY(const std::uint64_t size,
                ledger::look_at(workspace->store(), &ledger::ReadView::size));
  print_line(context.json()
                 ? canonical_json(
                       json::object{{"acknowledged", true}, {"sequence", size - 1}, {"size", size}})
                 : fmt::format("acknowledged; the ledger continues with {} entries", size));
  return 0;
}

const Command kLedgerHoldAdd(
    "ledger hold add", "set a hold", ledger_hold_add, [](Syntax& syntax, HoldAddOptions& options) {
      syntax.text("--id", options.id, "name of the hold [a new one]", "NAME");
      selection_options(syntax, options.selection);
      syntax.text("--reason", options.reason, "reason; becomes part of the record").required();
      person_options(syntax, options.login);
    });

const Command kLedgerHoldLift(
    "ledger hold lift", "lift a hold", ledger_hold_lift,
    [](Syntax& syntax, HoldLiftOptions& options) {
      syntax.text("id", options.id, "name of the hold", "NAME").required();
      syntax.text("--reason", options.reason, "reason; becomes part of the record").required();
      person_options(syntax, options.login);
    });

const Command kLedgerHoldList("ledger hold list", "list the holds in force", ledger_hold_list);

const Command kLedgerAcknowledge(
    "ledger acknowledge", "allow writing to a ledger that its witness contradicts",
    ledger_acknowledge, [](Syntax& syntax, AcknowledgeOptions& options) {
      syntax.text("--reason", options.reason, "reason; becomes part of the record").required();
      person_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
