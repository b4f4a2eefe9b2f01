#include "people/approval_json.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::app {

namespace {

json::object to_json(const core::Vote& vote) {
  return {{"reviewer", vote.by},
          {"approved", vote.approved},
          {"responded_at", vote.at},
          {"door", vote.door},
          {"signature", vote.proof()}};
}

// The results of rules, and whether a yes needs a reason (RU-18, RU-73).
void add_rules(json::object& object, const ApprovalItem& item) {
  if (!item.rules.empty()) object["rules"] = item.rules;
  if (item.state.reason_required) object["reason_required"] = true;
}

}  // namespace

json::object to_json(const EscalationItem& item) {
  return {{"kind", "escalation"},          {"state", "pending"},
          {"request_id", item.id},         {"call_id", item.call_id},
          {"session_id", item.session_id}, {"agent_id", item.agent_id},
          {"server", item.server},         {"tool_name", item.tool},
          {"guard", item.guard},           {"message", item.message},
          {"opened_at", item.opened_at},   {"count", item.count}};
}

json::object to_json(const ApprovalItem& item) {
  json::object object{{"state", to_string(item.status)},
                      {"description", item.description},
                      {"approvals", item.state.open() ? item.state.counted().size() : 0}};
  for (const char* const name :
       {"kind", "request_id", "call_id", "session_id", "agent_id", "server", "tool_name", "action",
        "requested_at", "deadline", "approvers_required", "reviewers", "binding", "proposal"}) {
    object[name] = item.request.at(name);
  }
  object["hidden"] = core::hidden_json(item.hidden);
  add_rules(object, item);
  return object;
}

Result<json::value> result_of_approval(core::RecordReader& records, const std::string& id) {
  SALLYPORT_TRY(const auto stored, records.fact(core::kApprovalResult, id));
  const auto placed = stored ? core::split_place(*stored) : std::nullopt;
  if (!placed) return json::value();
  SALLYPORT_TRY(const json::object entry, records.entry(placed->sequence));
  const json::object* const body = object_in(entry, "body");
  const json::value* const outcome = body ? body->if_contains("outcome") : nullptr;
  return json::object{{"sequence", placed->sequence},
                      {"call_id", text_in(entry, "call_id").value_or("")},
                      {"outcome", outcome ? *outcome : json::value()}};
}

json::object page_json(const ApprovalItem& item, json::value result) {
  json::array responses;
  for (std::size_t i = 0; i < item.state.votes.size(); ++i) {
    json::object response = to_json(item.state.votes[i]);
    if (i < item.reasons.size()) {
      const std::string& reason = item.reasons[i];
      response["reason"] = reason.empty() ? json::value() : json::value(reason);
    }
    responses.push_back(std::move(response));
  }
  json::object page{{"request", item.request},
                    {"state", to_string(item.status)},
                    {"description", item.description},
                    {"answer", item.answer.empty() ? json::value() : json::value(item.answer)},
                    {"responses", std::move(responses)},
                    {"result", std::move(result)},
                    {"ended", item.ended},
                    {"hidden", core::hidden_json(item.hidden)}};
  if (!item.folder.empty()) page["folder"] = item.folder;
  if (item.exact) page["exact_input"] = *item.exact;
  add_rules(page, item);
  return page;
}

}  // namespace sallyport::app
