#include "people/approval_views.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/reply_check.h"
#include "core/plan/rule_text.h"
#include "people/answer_limits.h"

namespace sallyport::app {

namespace {

std::string_view level_of(const ApprovalItem& item, std::size_t rank) {
  constexpr std::size_t kHigh = 3;    // process.exec, unknown, fs.delete
  constexpr std::size_t kMedium = 9;  // up to fs.copy
  if (rank < kHigh || core::any_command(item.hidden)) return "high";
  return rank < kMedium || !item.hidden.empty() ? "medium" : "low";
}

bool has_voted(const ApprovalItem& item, std::string_view name) {
  return std::ranges::any_of(item.state.votes,
                             [&](const core::Vote& vote) { return vote.by == name; });
}

}  // namespace

json::object risk_json(const ApprovalItem& item) {
  const std::string action = text_or_empty(item.request, "action");
  const std::size_t rank = risk_rank(action);
  json::array reach;
  for (const core::RuleLine& line : core::rule_lines(item.rules)) {
    if (line.name == "effect") reach.emplace_back(line.text);
  }
  const json::value* const undo = item.request.if_contains("undo_metadata");
  return {{"level", level_of(item, rank)},
          {"class", action},
          {"rank", rank},
          {"hidden", !item.hidden.empty()},
          {"command_hidden", core::any_command(item.hidden)},
          {"undo", undo == nullptr || undo->is_null() ? "none" : "described"},
          {"reach", std::move(reach)}};
}

json::object quorum_json(const ApprovalItem& item, const trust::Reviewers& people) {
  json::array approved;
  for (const core::Vote& vote : item.state.counted()) {
    if (!vote.approved) continue;
    approved.push_back(json::object{{"reviewer", vote.by}, {"at", vote.at}, {"door", vote.door}});
  }
  json::array may;
  for (const trust::Reviewer& person : people.people) {
    const bool can = item.status == core::ApprovalStatus::Pending && person.has_role("approver") &&
                     !has_voted(item, person.name) &&
                     core::check_reviewer({.by = person.name}, item.request, item.state);
    if (can) may.emplace_back(person.name);
  }
  const std::size_t given = approved.size();
  const std::size_t missing =
      item.status == core::ApprovalStatus::Pending && item.state.required > given
          ? item.state.required - given
          : 0;
  return {{"required", item.state.required},
          {"approved", std::move(approved)},
          {"missing", missing},
          {"may_answer", std::move(may)}};
}

Result<std::string> why_not(const ApprovalItem& item, const api::Person& person,
                            const trust::Reviewers& people, const StrongQuestions& strong,
                            const NeedsOwnLook& needs_own_look) {
  if (!person.roles.has(api::Role::Approver)) return std::string("role");
  if (item.status != core::ApprovalStatus::Pending) return std::string("not_pending");
  if (core::is_requester(person.name, item.request)) return std::string("own_agent");
  if (!core::check_reviewer({.by = person.name}, item.request, item.state)) {
    return std::string("not_listed");
  }
  if (has_voted(item, person.name)) return std::string("already_answered");
  const bool dual = core::kind_of(item.request) == QuestionKind::DualControl;
  if (dual && strong.dual_control) return std::string("strong_needed");
  if (!dual && strong.requires_human) {
    SALLYPORT_TRY(const bool human, needs_own_look(item));
    if (human) return std::string("strong_needed");
  }
  const trust::Reviewer* const known = people.find(person.name);
  return std::string(known != nullptr && known->key ? "key_needed" : "");
}

json::object may_answer_json(const std::string& why, const std::string& person,
                             const std::vector<trust::Enrolment>& enrolled) {
  json::array passkeys;
  json::array browser_keys;
  for (const trust::Enrolment& one : enrolled) {
    if (one.reviewer != person || !one.counts()) continue;
    if (one.is_passkey()) {
      passkeys.emplace_back(one.credential_id);
    } else if (why == "key_needed") {
      browser_keys.emplace_back(one.credential_id);
    }
  }
  const bool signs = (why == "key_needed" || why == "strong_needed") &&
                     (!passkeys.empty() || !browser_keys.empty());
  json::object may_answer{{"ok", why.empty() || signs},
                          {"why", why.empty() || signs ? json::value() : json::value(why)}};
  if (signs) {
    may_answer["sign"] =
        json::object{{"passkeys", std::move(passkeys)}, {"browser_keys", std::move(browser_keys)}};
  }
  return may_answer;
}

void withhold(json::object& shown, const api::Person& person) {
  json::array withheld;
  if (!person.reads_sealed()) {
    for (const char* const name : {"description", "rules", "hidden", "answer", "result", "shown",
                                   "unlike", "edits", "why", "exact_input", "message", "folder"}) {
      json::value* const member = shown.if_contains(name);
      if (member == nullptr || member->is_null()) continue;
      *member = nullptr;
      withheld.emplace_back(name);
    }
    json::value* const request = shown.if_contains("request");
    if (request != nullptr && request->is_object() && request->get_object().contains("args")) {
      request->get_object()["args"] = nullptr;
      withheld.emplace_back("request.args");
    }
    json::value* const risk = shown.if_contains("risk");
    if (risk != nullptr && risk->is_object()) {
      risk->get_object()["reach"] = nullptr;
      withheld.emplace_back("risk.reach");
    }
  }
  shown["withheld"] = std::move(withheld);
}

}  // namespace sallyport::app
