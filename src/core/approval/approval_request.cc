#include "core/approval/approval_request.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_state.h"
#include "core/plan/capability.h"
#include "core/record/read_field.h"

namespace sallyport {

namespace {

constexpr core::Word<QuestionKind> kQuestionKinds[] = {{"approval", QuestionKind::Approval},
                                                       {"dual_control", QuestionKind::DualControl},
                                                       {"question", QuestionKind::Question}};

}  // namespace

std::string_view to_string(QuestionKind kind) {
  return core::word_of(kQuestionKinds, kind);
}

std::optional<QuestionKind> question_kind_from(std::string_view word) {
  return core::enum_of(kQuestionKinds, word);
}

}  // namespace sallyport

namespace sallyport::core {

namespace {

constexpr auto kMembers =
    std::to_array<std::string_view>({"schema",        "request_id",      "kind",
                                     "agent_id",      "principal",       "session_id",
                                     "trace_id",      "call_id",         "server",
                                     "tool_name",     "action",          "capabilities_requested",
                                     "args",          "binding",         "nonce",
                                     "policy_hash",   "tool_definition", "approvers_required",
                                     "reviewers",     "requested_at",    "deadline",
                                     "evidence_refs", "undo_metadata",   "proposal"});

// A question that is not about a call needs no capabilities.
json::array capabilities_of(const Question& question) {
  if (question.action.empty() || question.action == "none") return {};
  return {json::value(capability_of(question.action))};
}

}  // namespace

std::string fresh_nonce(Entropy& entropy) {
  std::array<std::uint8_t, 16> bytes;
  entropy.fill(bytes);
  return hex(bytes);
}

std::string bound_text(const Question& question, const std::string& exact) {
  const json::value input =
      exact.empty() ? question.input : json::value(json::object{{"raw", exact}});
  return canonical_json(json::object{{"input", input},
                                     {"nonce", question.nonce},
                                     {"policy_hash", question.policy_hash},
                                     {"principal", question.agent_id},
                                     {"schema", "sallyport.binding.v1"},
                                     {"server", question.server},
                                     {"tool_definition", text_or_null(question.tool_definition)},
                                     {"tool_name", question.tool}});
}

std::string binding_of(const Question& question, const std::string& exact) {
  return "sha256:" + hex(sha256(bound_text(question, exact)));
}

std::string ResponseStatement::text() const {
  return canonical_json(json::object{{"approved", approved},
                                     {"binding", binding},
                                     {"request_id", request_id},
                                     {"responded_at", responded_at},
                                     {"reviewer", reviewer},
                                     {"schema", "sallyport.approval_response.v1"}});
}

json::object request_json(const Question& question) {
  json::array reviewers;
  for (const std::string& reviewer : question.reviewers) reviewers.emplace_back(reviewer);
  return {{"schema", "sallyport.approval_request.v1"},
          {"request_id", question.approval_id},
          {"kind", to_string(question.kind)},
          {"agent_id", question.agent_id},
          {"principal", question.agent_id},
          {"session_id", question.session_id},
          {"trace_id", question.trace_id},
          {"call_id", question.call_id},
          {"server", question.server},
          {"tool_name", question.tool},
          {"action", question.action},
          {"capabilities_requested", capabilities_of(question)},
          {"args", json::array{question.input}},
          {"binding", question.binding},
          {"nonce", question.nonce},
          {"policy_hash", question.policy_hash},
          {"tool_definition", text_or_null(question.tool_definition)},
          {"approvers_required", question.approvers_required},
          {"reviewers", std::move(reviewers)},
          {"requested_at", question.requested_at},
          {"deadline", question.expires_at},
          {"evidence_refs", json::array{}},
          {"undo_metadata", nullptr},
          {"proposal", question.proposal}};
}

Result<json::object> request_entry(RecordReader& records, const std::string& approval_id) {
  SALLYPORT_TRY(const auto stored, records.fact(kRequestSpace, approval_id));
  std::optional<std::uint64_t> sequence;
  if (stored) {
    if (const auto placed = split_place(*stored)) sequence = placed->sequence;
  } else {
    // An earlier release stored no such place. Until the answer, the state has it.
    SALLYPORT_TRY(const auto state, approval_state(records, approval_id));
    if (state) sequence = state->sequence;
  }
  if (!sequence) {
    return fail(ErrorCode::NotFound, fmt::format("there is no approval `{:.80}`", approval_id));
  }
  return records.entry(*sequence);
}

json::object request_of(const json::object& entry) {
  const json::object* const body = object_in(entry, "body");
  json::object request;
  for (const std::string_view name : kMembers) {
    const json::value* const value = body ? body->if_contains(name) : nullptr;
    request[name] = value ? *value : json::value();
  }
  // An earlier release has some of them in the entry itself.
  for (const char* const name :
       {"agent_id", "call_id", "session_id", "server", "tool_name", "trace_id"}) {
    if (request[name].is_null()) request[name] = text_or_empty(entry, name);
  }
  return request;
}

Result<json::object> stored_request(RecordReader& records, const std::string& approval_id) {
  SALLYPORT_TRY(const json::object entry, request_entry(records, approval_id));
  return request_of(entry);
}

std::optional<QuestionKind> kind_of(const json::object& request) {
  return question_kind_from(text_or_empty(request, "kind"));
}

}  // namespace sallyport::core
