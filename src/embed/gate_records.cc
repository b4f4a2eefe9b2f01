#include "embed/gate_records.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "core/event/topic_event.h"
#include "core/record/finding.h"

namespace sallyport::embed {

using guardrails::Hit;

namespace {

std::unexpected<Error> shut() {
  return fail(ErrorCode::Unavailable,
              "a finding of the guardrails could not be recorded, the stream is shut", {}, "store");
}

Task<void> append(core::RecordLog& records, std::vector<core::Draft> rows, core::Urgency urgency) {
  const auto written = co_await records.append(std::move(rows), urgency);
  if (!written) co_return std::unexpected(written.error());
  co_return Result<void>{};
}

}  // namespace

GuardrailHit hit_of(const Hit& hit) {
  GuardrailHit result{.check = hit.check,
                      .action = std::string(to_string(hit.action)),
                      .reason_code = hit.reason_code,
                      .start = hit.start,
                      .end = hit.end,
                      .json = guardrails::to_json(hit)};
  result.json.erase("matched");
  return result;
}

json::value GateRecords::channel() const {
  return about_.channel.empty() ? json::value() : json::value(about_.channel);
}

core::Draft GateRecords::row_of(const Hit& hit) const {
  return core::finding_row(
      guards::finding_of(*parts_.guardrails, hit, channel(), released_, parts_.excerpts), subject_);
}

std::optional<Hit> GateRecords::first_redaction(const guardrails::Piece& piece) {
  const std::size_t index = piece.checks.front();
  if (!redacting_.insert(index).second) return std::nullopt;
  const guardrails::Check& check = parts_.guardrails->document().checks[index];
  return Hit{.check_index = index,
             .check = check.label,
             .check_id = check.id,
             .stage = about_.stage,
             .rule_type = check.type,
             .action = guardrails::Action::Redact,
             .on_fail = check.on_fail,
             .severity = check.severity,
             .reason_code = std::string(guardrails::reason_code_of(check.type)),
             .replacement = check.replacement,
             .start = piece.start,
             .end = piece.end,
             .at = piece.end};
}

Result<void> GateRecords::write(std::vector<core::Draft> rows, core::Urgency urgency) {
  if (rows.empty()) return {};
  SALLYPORT_TRY(const Visitors::Visit visit, parts_.visitors.enter());
  const Result<void> written =
      run_task(parts_.loop, append(parts_.ledger, std::move(rows), urgency));
  if (!written) shut_ = true;
  return written;
}

Result<GateOutput> GateRecords::take(const guardrails::Passed& passed) {
  if (shut_) return shut();
  GateOutput out;
  std::vector<core::Draft> logs;
  std::vector<core::Draft> deciding;
  for (const Hit& hit : passed.logs) {
    out.hits.push_back(hit_of(hit));
    logs.push_back(row_of(hit));
  }
  for (const guardrails::Piece& piece : passed.pieces) {
    if (piece.checks.empty()) {
      released_ += piece.end - piece.start;
      continue;
    }
    ++redactions_;
    if (const std::optional<Hit> hit = first_redaction(piece)) {
      out.hits.push_back(hit_of(*hit));
      deciding.push_back(row_of(*hit));
    }
  }
  if (passed.block) {
    out.hits.push_back(hit_of(*passed.block));
    deciding.push_back(row_of(*passed.block));
    blocked_ = out.blocked = true;
  }
  if (!logs.empty()) {
    start_task(parts_.loop, append(parts_.ledger, std::move(logs), core::Urgency::Reports));
  }
  SALLYPORT_CHECK_OK(write(std::move(deciding), core::Urgency::Announces));
  out.text = passed.text();
  return out;
}

Result<std::vector<GuardrailHit>> GateRecords::take(const guardrails::Evaluation& seen) {
  if (shut_) return shut();
  std::vector<GuardrailHit> hits;
  std::vector<core::Draft> rows;
  for (const Hit& hit : seen.hits) {
    hits.push_back(hit_of(hit));
    rows.push_back(row_of(hit));
  }
  blocked_ = blocked_ || seen.verdict == guardrails::Verdict::Block;
  SALLYPORT_CHECK_OK(write(std::move(rows), core::Urgency::Announces));
  return hits;
}

Result<void> GateRecords::finish(std::uint64_t bytes_in,
                                 const std::vector<guardrails::Coverage>& coverage) {
  if (shut_) return shut();
  if (std::exchange(finished_, true)) return {};
  const guardrails::Evaluation seen{.coverage = coverage};
  json::object payload = guards::evidence_of(*parts_.guardrails, {seen});
  payload["stage"] = to_string(about_.stage);
  payload["tool"] = about_.tool.empty() ? json::value() : json::value(about_.tool);
  payload["channel"] = channel();
  payload["bytes_in"] = bytes_in;
  payload["released_bytes"] = released_;
  payload["redactions"] = redactions_;
  payload["verdict"] = blocked_ ? "block" : redactions_ > 0 ? "redact" : "allow";
  SALLYPORT_TRY(core::Draft draft, core::topic_draft({.topic = std::string(core::kGuardrailsTopic),
                                                      .kind = "guardrails.stream_finished",
                                                      .payload = std::move(payload)}));
  draft.subject = subject_;
  std::vector<core::Draft> rows;
  rows.push_back(std::move(draft));
  return write(std::move(rows), core::Urgency::Reports);
}

}  // namespace sallyport::embed
