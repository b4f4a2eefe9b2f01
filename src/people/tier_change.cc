#include "people/tier_change.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/object_reader.h"
#include "base/try.h"
#include "core/record/shape_fields.h"
#include "trust/approver_book.h"
#include "trust/standing.h"

namespace sallyport::app {

namespace {

Result<trust::ControlHistory> history_of(const ChangeScene& scene) {
  return trust::ControlHistory::parse(scene.stored.value_or(""));
}

}  // namespace

Result<SignedChange> signed_change_from(const json::value& value, bool is_signed) {
  ObjectReader in(value, "statement");
  (void)in.word("schema", {"sallyport.control.v1"});
  SignedChange change{.statement = {.action = in.word("action", {"trust.promote", "trust.demote"}),
                                    .agent = in.text("agent"),
                                    .control_id = in.text("control_id"),
                                    .from_tier = core::autonomy_in(in, "from_tier"),
                                    .to_tier = core::autonomy_in(in, "to_tier"),
                                    .ledger = in.text("ledger"),
                                    .reviewer = in.text("reviewer"),
                                    .signed_at = in.time("signed_at")},
                      .signature = is_signed ? in.text("signature") : std::string()};
  if (!in.ok()) return std::unexpected(in.error());
  return change;
}

json::object to_json(const SignedChange& change) {
  const trust::ControlStatement& statement = change.statement;
  return {{"action", statement.action},         {"agent", statement.agent},
          {"control_id", statement.control_id}, {"from_tier", to_string(statement.from_tier)},
          {"ledger", statement.ledger},         {"reviewer", statement.reviewer},
          {"schema", "sallyport.control.v1"},   {"signature", change.signature},
          {"signed_at", statement.signed_at},   {"to_tier", to_string(statement.to_tier)}};
}

Result<Autonomy> tier_before(const trust::ControlStatement& statement, const ChangeScene& scene) {
  SALLYPORT_TRY(const trust::ControlHistory history, history_of(scene));
  const trust::ApproverBook people(scene.people);
  return history.proven(statement.agent, statement.ledger, &people).effective(scene.declared);
}

Result<core::Draft> change_draft(const SignedChange& change, const ChangeScene& scene,
                                 std::string record_id, std::string trace_id) {
  const trust::ControlStatement& statement = change.statement;
  SALLYPORT_CHECK_OK(trust::check_control(statement, change.signature, scene.people, scene.now));
  SALLYPORT_TRY(const Autonomy before, tier_before(statement, scene));
  if (before != statement.from_tier) {
    return fail(ErrorCode::Conflict,
                fmt::format("the tier of `{:.80}` is {} by now, not {}; sign again",
                            statement.agent, to_string(before), to_string(statement.from_tier)));
  }
  SALLYPORT_TRY(trust::ControlHistory history, history_of(scene));
  history.add(statement, change.signature);
  const trust::TrustRecord record = trust::control_record(
      statement, change.signature, std::move(record_id), std::move(trace_id), scene.now);
  SALLYPORT_CHECK_OK(trust::check_record(record));
  core::Draft draft = trust::trust_draft(record);
  draft.facts.push_back({std::string(trust::kStandingSpace), statement.agent, history.text()});
  draft.facts.push_back({std::string(kControlIds), statement.control_id, "used", true});
  return draft;
}

}  // namespace sallyport::app
