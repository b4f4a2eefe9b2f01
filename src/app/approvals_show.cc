// One question as a person sees it: made from the bound input itself, hidden characters visible,
// secrets as the ledger masked them, and the binding at its end (AP-38, AP-39, AP-41).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "app/approval_items.h"
#include "app/commands.h"
#include "app/entry_text.h"
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

class Page {
 public:
  Page(const ApprovalItem& item, bool full) : item_(item), full_(full) {}

  void print(const json::value& result) const {
    line("question", item_.id);
    line("state", item_.word);
    line("kind", text("kind"));
    line("asks", item_.description);
    line("agent", text("agent_id"));
    line("session", text("session_id"));
    say(fmt::format("{:<10} {}", "tool", with_lookalikes(visible(text("tool_name")))));
    if (!text("server").empty()) {
      say(fmt::format("{:<10} {}", "server", with_lookalikes(visible(text("server")))));
    }
    line("class", text("action"));
    line("asked at", text("requested_at"));
    line("deadline", text("deadline"));
    line("reviewers", reviewers());
    say(what_happens());
    for (const core::Vote& vote : item_.state.votes) {
      say(fmt::format("{:<10} {} said {} at {} through {}", "answer", visible(vote.by),
                      vote.approved ? "yes" : "no", visible(vote.at), visible(vote.door)));
    }
    if (!result.is_null()) say("result     " + pretty_json(shown(result), 11));
    say("input      " + with_lookalikes(pretty_json(shown(input()), 11)));
    say("binding    " + text("binding").substr(7, 8));
  }

 private:
  std::string text(std::string_view name) const {
    return std::string(text_in(item_.request, name).value_or(""));
  }
  void line(std::string_view name, const std::string& value) const {
    if (!value.empty()) say(fmt::format("{:<10} {}", name, visible(value)));
  }
  json::value shown(const json::value& value) const {
    return full_ ? value : with_long_texts_cut(value, "--full");
  }
  json::value input() const {
    const json::value* const args = item_.request.if_contains("args");
    const bool one = args != nullptr && args->is_array() && args->get_array().size() == 1;
    return one ? args->get_array().front() : json::value();
  }
  std::string reviewers() const {
    std::string names;
    const json::value* const listed = item_.request.if_contains("reviewers");
    if (listed != nullptr && listed->is_array()) {
      for (const json::value& name : listed->get_array()) {
        if (name.is_string()) names += (names.empty() ? "" : ", ") + std::string(name.get_string());
      }
    }
    return fmt::format("{} of {}", item_.state.required,
                       names.empty() ? "all registered approvers" : names);
  }
  std::string what_happens() const {
    const bool proposal = bool_in(item_.request, "proposal").value_or(false);
    if (item_.word == "pending") {
      return proposal ? "if yes     it runs once, without the agent"
                      : "if yes     the waiting call runs once, with exactly the input below";
    }
    if (item_.word == "approved") return "next       it runs once, if it is used in time";
    return item_.word == "used" ? "then       it ran" : "then       it did not run, and will not";
  }

  const ApprovalItem& item_;
  bool full_;
};

}  // namespace

Result<int> approvals_show(const Context& context, const ApprovalsShowOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals show"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const ApprovalItem item,
                approval_item(records, options.id, workspace->clock().wall()));
  SALLYPORT_TRY(const json::value result, result_of(records, options.id));
  if (!context.json()) {
    Page(item, options.full).print(result);
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
