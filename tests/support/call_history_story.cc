#include "support/call_history_story.h"

#include <boost/json.hpp>

#include "base/json_members.h"

namespace sallyport::test {

using core::Draft;
using core::Kind;

namespace {

char letter_of(const json::object& event) {
  const std::string kind = text_of(event, "kind");
  const std::string outcome = text_of(event, "outcome");
  if (kind == "tool_authorization_started") return 's';
  if (kind == "tool_authorization_finished") {
    return outcome == "allow" ? 'a' : outcome == "prompt" ? 'p' : 'd';
  }
  if (kind == "tool_authorization_blocked") return outcome == "prompt" ? 'q' : 'n';
  if (kind == "policy_denied") return 'D';
  if (kind == "tool_execution_blocked") return 'X';
  if (kind == "tool_execution_started") return 'E';
  if (kind == "tool_execution_finished") return 'F';
  return '?';
}

}  // namespace

std::map<std::string, Story> stories_on(const ModelDisk& disk) {
  std::map<std::string, Story> stories;
  for (std::uint64_t i = 0; i < disk.entries.size(); ++i) {
    const Draft& entry = disk.entries[i].draft;
    if (entry.subject->call_id.empty()) continue;
    Story& story = stories[entry.subject->call_id];
    story.call_id = entry.subject->call_id;
    if (!entry.subject->trace_id.empty()) story.trace = entry.subject->trace_id;
    if (entry.kind == Kind::ToolAudit) {
      story.records.push_back(i);
      story.terminals += is_terminal(entry) ? 1 : 0;
    } else if (is_join(entry)) {
      story.joins.push_back(i);
    } else if (entry.kind == Kind::Intent) {
      story.intents.push_back(i);
    } else if (entry.kind == Kind::Event) {
      story.events.push_back(i);
      story.letters += letter_of(entry.body);
    }
  }
  return stories;
}

std::string text_of(const json::object& object, std::string_view name) {
  return std::string(text_in(object, name).value_or(""));
}

bool is_join(const Draft& entry) {
  return entry.kind == Kind::Approval && text_of(entry.body, "record") == "approval_joined";
}

bool is_terminal(const Draft& record) {
  return record.body.at("terminal").as_bool();
}

std::string effect_of(const Draft& record) {
  return text_of(record.body, "effect_state");
}

std::string outcome_text(const Draft& record) {
  const json::object& outcome = record.body.at("outcome").as_object();
  for (const char* const name : {"reason", "description", "error"}) {
    if (outcome.contains(name)) return text_of(outcome, name);
  }
  return {};
}

std::string_view endings_for(const Draft& record) {
  const std::string text = outcome_text(record);
  if (record.outcome == "completed") return "saED?F";
  if (record.outcome == "cached") return "sa";
  if (record.outcome == "replayed" || record.outcome == "requires_confirmation") return "";
  if (record.outcome == "blocked") {
    return text.starts_with("event sink failed: audit") ? "" : "saX|saEF|s[DX]?dn";
  }
  if (record.outcome == "invalidated") {
    return text.starts_with("interrupted:") ? "" : "sdn|saEF";
  }
  if (!is_terminal(record)) return "saE";
  if (text.starts_with("interrupted:")) return "saEF";
  if (text.starts_with("the intent ") || text.starts_with("cached ")) return "sa";
  if (text.starts_with("the approval question ") || text.starts_with("replayed ")) return "";
  if (text.starts_with("completed ")) return "saED?F";
  return "saX|saEF|s[DX]?dn|";
}

}  // namespace sallyport::test
