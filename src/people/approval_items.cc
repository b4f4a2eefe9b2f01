#include "people/approval_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <iterator>
#include <map>
#include <tuple>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/live_questions.h"
#include "core/approval/reply_check.h"
#include "core/plan/rule_text.h"

namespace sallyport::app {

namespace {

using core::live_questions::shown_status;

// The least reversible class comes first. An unlisted class ranks as unknown. A question that is
// not about a call has no risk.
std::size_t risk_of_class(std::string_view action) {
  constexpr auto kOrder = std::to_array<std::string_view>(
      {"process.exec", "unknown", "fs.delete", "git.write", "host.call", "network.request",
       "fs.move", "fs.write", "fs.copy", "fs.mkdir", "store.write", "metadata.write",
       "agent_state.write", "checkpoint.write", "network.sse.write", "mcp.release", "none"});
  if (action.empty()) return kOrder.size();
  const auto found = std::ranges::find(kOrder, action);
  return found == kOrder.end() ? 1 : static_cast<std::size_t>(found - kOrder.begin());
}

std::size_t rank_of(const std::vector<core::HiddenPart>& hidden) {
  if (core::any_command(hidden)) return 0;
  return hidden.empty() ? 2 : 1;
}

std::string member(const ApprovalItem& item, std::string_view name) {
  return text_or_empty(item.request, name);
}

std::string words_of(core::RecordReader& records, const ApprovalItem& item) {
  if (!core::is_question(item.request) || item.state.votes.empty()) return {};
  const Result<json::object> entry = records.entry(item.state.votes.back().sequence);
  const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
  return std::string(body ? text_in(*body, "answer").value_or("") : "");
}

// The ids of the questions in this state. Only `pending` avoids a search through all questions.
Result<std::vector<std::string>> ids_of(core::RecordReader& records, const std::string& wanted,
                                        WallTime now) {
  std::vector<std::string> ids;
  const auto take = [&](const std::string& id, const core::ApprovalState& state) {
    if (wanted == "all" || wanted == to_string(shown_status(state, now))) ids.push_back(id);
  };
  if (wanted == "pending") {
    SALLYPORT_TRY(const auto live, core::live_questions::all(records));
    for (const auto& [id, state] : live) {
      if (!state) return std::unexpected(state.error());
      take(id, *state);
    }
    return ids;
  }
  SALLYPORT_TRY(const std::vector<core::Fact> all, records.facts(core::kApprovalSpace));
  for (const core::Fact& fact : all) {
    SALLYPORT_TRY(const core::ApprovalState state,
                  core::ApprovalState::parse(fact.value.value_or("")));
    take(fact.key, state);
  }
  return ids;
}

// Keeps the order, but moves questions beyond the share of one agent to the end.
void share_out(std::vector<ApprovalItem>& items) {
  constexpr std::size_t kShare = 16;
  std::map<std::string, std::size_t> seen;
  std::map<std::size_t, std::vector<ApprovalItem>> turns;
  for (ApprovalItem& item : items) {
    const std::size_t turn = seen[member(item, "agent_id")]++ / kShare;
    turns[turn].push_back(std::move(item));
  }
  items.clear();
  for (auto& [turn, shared] : turns) std::ranges::move(shared, std::back_inserter(items));
}

Result<void> check_word(const std::optional<std::string>& word, std::string_view what,
                        const std::vector<std::string>& known) {
  if (!word || std::ranges::find(known, *word) != known.end()) return {};
  return fail(ErrorCode::InvalidInput, fmt::format("there is no {} `{:.80}`; one of {}", what,
                                                   *word, fmt::join(known, ", ")));
}

}  // namespace

std::size_t risk_rank(std::string_view action) {
  return risk_of_class(action);
}

const std::vector<std::string>& approval_kinds() {
  static const std::vector<std::string> kKinds{"approval", "dual_control", "question",
                                               "escalation"};
  return kKinds;
}

const std::vector<std::string>& approval_states() {
  static const std::vector<std::string> kStates{"pending",   "approved",    "denied", "expired",
                                                "cancelled", "invalidated", "used",   "all"};
  return kStates;
}

Result<ApprovalItem> approval_item(core::RecordReader& records, const std::string& id,
                                   WallTime now) {
  SALLYPORT_TRY(const auto state, core::approval_state(records, id));
  if (!state) {
    return fail(ErrorCode::NotFound,
                fmt::format("there is no approval `{:.80}`; `sallyport approvals list --state all` "
                            "shows them",
                            id));
  }
  SALLYPORT_TRY(const json::object entry, core::request_entry(records, id));
  ApprovalItem item{.id = id,
                    .state = *state,
                    .status = shown_status(*state, now),
                    .request = core::request_of(entry),
                    .description = {}};
  if (const json::object* const body = object_in(entry, "body")) {
    item.description = text_in(*body, "description").value_or("");
    item.folder = text_or_empty(*body, "folder");
    item.hidden = core::hidden_in(body->if_contains("hidden"));
    item.rules = core::rules_in(body);
  }
  item.answer = words_of(records, item);
  return item;
}

namespace {

std::string reason_at(core::RecordReader& records, std::uint64_t sequence) {
  const Result<json::object> entry = records.entry(sequence);
  const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
  return body ? text_or_empty(*body, "reason") : "";
}

// Who ended an unanswered question, when, through which door and why; null: it is open or has
// answers (CO-41).
json::value ended_json(core::RecordReader& records, const ApprovalItem& item, bool reads) {
  using enum core::ApprovalStatus;
  const core::ApprovalStatus status = item.state.status;
  if (status != Cancelled && status != Expired && status != Invalidated) return nullptr;
  const Result<json::object> entry = records.entry(item.state.sequence);
  const json::object* const body = entry ? object_in(*entry, "body") : nullptr;
  if (body == nullptr || text_in(*body, "record") != "approval_decision") return nullptr;
  const json::value* const by = body->if_contains("reviewers");
  const std::string reason = reads ? text_or_empty(*body, "reason") : "";
  return json::object{{"state", to_string(status)},
                      {"by", by != nullptr && by->is_array() ? *by : json::array()},
                      {"at", text_or_empty(*body, "decided_at")},
                      {"door", text_or_empty(*body, "door")},
                      {"reason", reason.empty() ? json::value() : json::value(reason)}};
}

}  // namespace

void read_answers(core::RecordReader& records, bool reads, ApprovalItem& item) {
  item.ended = ended_json(records, item, reads);
  if (!reads) return;
  for (const core::Vote& vote : item.state.votes) {
    // The last answer could not know its own place.
    const std::uint64_t place = vote.sequence != 0 ? vote.sequence : item.state.sequence;
    item.reasons.push_back(reason_at(records, place));
  }
}

Result<std::vector<ApprovalItem>> approval_items(core::RecordReader& records,
                                                 const ApprovalsListOptions& options,
                                                 WallTime now) {
  SALLYPORT_CHECK_OK(check_word(options.kind, "kind", approval_kinds()));
  SALLYPORT_CHECK_OK(check_word(options.state, "state", approval_states()));
  const std::string wanted = options.state.value_or("pending");
  std::vector<ApprovalItem> items;
  // The state is known before the request is opened.
  SALLYPORT_TRY(const std::vector<std::string> ids, ids_of(records, wanted, now));
  for (const std::string& id : ids) {
    SALLYPORT_TRY(ApprovalItem item, approval_item(records, id, now));
    if (options.kind && member(item, "kind") != *options.kind) continue;
    items.push_back(std::move(item));
  }
  std::ranges::sort(items, {}, [](const ApprovalItem& item) {
    return std::tuple(risk_rank(member(item, "action")), rank_of(item.hidden),
                      member(item, "requested_at"), item.id);
  });
  share_out(items);
  return items;
}

Result<void> reveal(core::RecordReader& records, const core::Decrypt& decrypt,
                    const std::string& name, ApprovalItem& item) {
  if (item.hidden.empty() || item.status != core::ApprovalStatus::Pending) return {};
  SALLYPORT_CHECK_OK(core::check_reviewer({.by = name}, item.request, item.state));
  SALLYPORT_TRY(item.exact, core::bound_input(records, decrypt, item.id, member(item, "binding")));
  return {};
}

}  // namespace sallyport::app
