#include "people/approval_context.h"

#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/json_pointer.h"
#include "base/try.h"
#include "ledger/read/query.h"
#include "records/entry_text.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostMembers = 64;
constexpr std::size_t kLongestShownText = 64u << 10;

json::value bounded(const json::value& value) {
  if (value.is_string() && value.get_string().size() > kLongestShownText) {
    return json::value(cut_utf8_bytes(std::string(value.get_string()), kLongestShownText));
  }
  return value;
}

// A path of a walk. Names may be long and many, so a step appends to it and does not copy it.
class Step {
 public:
  Step(std::string& path, std::string_view name) : path_(path), size_(path.size()) {
    append_step(path_, name);
  }
  Step(const Step&) = delete;
  ~Step() { path_.resize(size_); }

 private:
  std::string& path_;
  std::size_t size_;
};

// The members that differ, down to the first place where they do.
void compare(const json::value* before, const json::value* now, std::string& path,
             json::array& members) {
  if (members.size() >= kMostMembers) return;
  const json::object* const was = before ? before->if_object() : nullptr;
  const json::object* const is = now ? now->if_object() : nullptr;
  if (was != nullptr && is != nullptr) {
    std::set<std::string> names;
    for (const json::key_value_pair& pair : *was) names.emplace(pair.key());
    for (const json::key_value_pair& pair : *is) names.emplace(pair.key());
    for (const std::string& name : names) {
      const Step step(path, name);
      compare(was->if_contains(name), is->if_contains(name), path, members);
    }
    return;
  }
  if (before != nullptr && now != nullptr && *before == *now) return;
  json::object one{{"path", path}};
  if (before != nullptr) one["before"] = bounded(*before);
  if (now != nullptr) one["now"] = bounded(*now);
  members.push_back(std::move(one));
}

json::value input_of(const ApprovalItem& item) {
  const json::value* const args = item.request.if_contains("args");
  const bool one = args != nullptr && args->is_array() && args->get_array().size() == 1;
  return one ? args->get_array().front() : json::value();
}

// Members that hold a text before and after an edit, as tools name them.
constexpr std::pair<std::string_view, std::string_view> kEdits[] = {{"old_string", "new_string"},
                                                                    {"oldText", "newText"},
                                                                    {"old_text", "new_text"},
                                                                    {"old_str", "new_str"},
                                                                    {"old", "new"}};

void find_edits(const json::value& value, std::string& path, json::array& found) {
  if (found.size() >= kMostMembers) return;
  if (const json::array* const items = value.if_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      const Step step(path, std::to_string(i));
      find_edits((*items)[i], path, found);
    }
  }
  const json::object* const members = value.if_object();
  if (members == nullptr) return;
  for (const auto& [before, now] : kEdits) {
    if (!text_in(*members, before) || !text_in(*members, now)) continue;
    found.push_back(json::object{{"path", path},
                                 {"before", bounded(members->at(before))},
                                 {"now", bounded(members->at(now))}});
  }
  for (const json::key_value_pair& member : *members) {
    const Step step(path, member.key());
    if (member.key() == "prepared_snapshot" && member.value().is_object() &&
        text_in(member.value().get_object(), "diff")) {
      found.push_back(json::object{{"path", pointer_to(path, "diff")},
                                   {"diff", bounded(member.value().at("diff"))}});
    }
    find_edits(member.value(), path, found);
  }
}

std::string asked_text(const ApprovalItem& item, std::string_view name) {
  return text_or_empty(item.request, name);
}

}  // namespace

Result<json::value> unlike_json(ledger::ReadView& view, const ApprovalItem& item) {
  constexpr std::size_t kLookedAt = 32;
  ledger::Filter filter{.facets = {{ledger::Facet::Kind, "tool_audit"},
                                   {ledger::Facet::Outcome, "completed"},
                                   {ledger::Facet::Agent, asked_text(item, "agent_id")},
                                   {ledger::Facet::Tool, asked_text(item, "tool_name")}}};
  const std::string server = asked_text(item, "server");
  if (!server.empty()) filter.facets[ledger::Facet::Server] = server;
  // For a finished question, only approvals before it was asked count.
  if (item.status != core::ApprovalStatus::Pending) {
    filter.until = from_rfc3339(asked_text(item, "requested_at"));
  }
  SALLYPORT_TRY(const std::vector<ledger::StoredEntry> entries,
                ledger::newest_entries(view, filter, kLookedAt));
  for (auto it = entries.rbegin(); it != entries.rend(); ++it) {
    SALLYPORT_TRY(const OpenedEntry opened, open_entry(*it));
    const json::object* const body = opened.body.if_object();
    const json::object* const entry = opened.entry.if_object();
    if (body == nullptr || entry == nullptr) continue;
    const std::string approval = text_or_empty(*body, "approval_id");
    if (approval.empty() || approval == item.id) continue;
    const json::value* const before = body->if_contains("effective_input");
    const json::value now = input_of(item);
    json::array members;
    std::string path;
    compare(before, &now, path, members);
    return json::value(json::object{{"request_id", approval},
                                    {"answered_at", text_or_empty(*entry, "recorded_at")},
                                    {"members", std::move(members)}});
  }
  return json::value();
}

json::array edits_json(const ApprovalItem& item) {
  json::array found;
  std::string path;
  find_edits(item.exact ? *item.exact : input_of(item), path, found);
  return found;
}

Result<json::value> why_json(ledger::ReadView& view, const ApprovalItem& item) {
  const std::string call = asked_text(item, "call_id");
  if (call.empty()) return json::value();
  const ledger::Filter filter{.facets = {{ledger::Facet::Call, call}}};
  SALLYPORT_TRY(const std::vector<ledger::StoredEntry> entries,
                ledger::newest_entries(view, filter, 16));
  for (auto it = entries.rbegin(); it != entries.rend(); ++it) {
    SALLYPORT_TRY(const OpenedEntry opened, open_entry(*it));
    const json::object* const body = opened.body.if_object();
    if (body == nullptr || !text_in(*body, "autonomy")) continue;
    json::array findings;
    const json::value* const guards = body->if_contains("guards");
    if (guards != nullptr && guards->is_array()) {
      for (const json::value& guard : guards->get_array()) {
        const json::object* const run = guard.if_object();
        const auto verdict = run ? text_in(*run, "verdict") : std::nullopt;
        if (verdict && *verdict != "allow" && *verdict != "abstain") findings.push_back(guard);
      }
    }
    return json::value(json::object{{"autonomy", text_or_empty(*body, "autonomy")},
                                    {"source", text_or_empty(*body, "autonomy_source")},
                                    {"findings", std::move(findings)}});
  }
  return json::value();
}

Result<json::object> agent_counts(ledger::ReadView& view, const std::string& agent, WallTime now) {
  constexpr std::size_t kMostRecords = 1000;
  const ledger::Filter filter{
      .facets = {{ledger::Facet::Kind, "trust"}, {ledger::Facet::Agent, agent}},
      .since = now - std::chrono::days(30)};
  SALLYPORT_TRY(const std::vector<ledger::StoredEntry> entries,
                ledger::newest_entries(view, filter, kMostRecords));
  std::map<std::string, std::uint64_t> counts;
  for (const ledger::StoredEntry& stored : entries) {
    if (!stored.bytes) continue;
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    if (!entry.outcome.empty()) ++counts[entry.outcome];
  }
  json::object counted;
  for (const auto& [outcome, count] : counts) counted[outcome] = count;
  return counted;
}

}  // namespace sallyport::app
