// One question, what was answered, and what came of it.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/approval_items.h"
#include "app/approval_page.h"
#include "app/commands.h"
#include "app/governed_process.h"
#include "app/output.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/waiting_facts.h"
#include "ledger/store_reader.h"

namespace sallyport::app {

namespace {

json::object to_json(const core::Vote& vote) {
  return {{"reviewer", vote.by},
          {"approved", vote.approved},
          {"responded_at", vote.at},
          {"door", vote.door},
          {"signature", vote.proof()}};
}

// The record of the call that used it, where there is one (AP-22).
Result<json::value> result_of(core::RecordReader& records, const std::string& id) {
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

}  // namespace

Result<int> approvals_show(const Context& context, const ApprovalsShowOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals show"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const ApprovalItem item,
                approval_item(records, options.id, workspace->clock().wall()));
  SALLYPORT_TRY(const json::value result, result_of(records, options.id));
  if (!context.json()) {
    for (const std::string& line : approval_page(item, result, options.full)) say(line);
    return 0;
  }
  json::array responses;
  for (const core::Vote& vote : item.state.votes) responses.push_back(to_json(vote));
  json::object object{{"request", item.request},
                      {"state", item.word},
                      {"description", item.description},
                      {"responses", std::move(responses)},
                      {"result", result}};
  say(visible_json(canonical_json(object)));
  return 0;
}

}  // namespace sallyport::app
