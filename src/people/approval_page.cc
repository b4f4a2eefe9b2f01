#include "people/approval_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_for_people.h"
#include "base/json_members.h"
#include "base/visible_text.h"
#include "core/approval/approval_request.h"
#include "core/plan/rule_text.h"
#include "records/entry_text.h"
#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

class Page {
 public:
  Page(const ApprovalItem& item, bool full) : item_(item), full_(full) {}

  std::vector<std::string> lines(const json::value& result) {
    line("question", item_.id);
    line("state", std::string(to_string(item_.status)));
    line("kind", text("kind"));
    line("asks", item_.description);
    line("agent", text("agent_id"));
    line("session", text("session_id"));
    if (!text("tool_name").empty()) {
      add(fmt::format("{:<10} {}", "tool", with_lookalikes(visible(text("tool_name")))));
    }
    if (!text("server").empty()) {
      add(fmt::format("{:<10} {}", "server", with_lookalikes(visible(text("server")))));
    }
    line("folder", item_.folder);
    line("class", text("action"));
    for (const core::RuleLine& one : core::rule_lines(item_.rules)) {
      add(fmt::format("{:<10} {}", one.name, one.text));
    }
    line("asked at", text("requested_at"));
    line("deadline", text("deadline"));
    line("reviewers", reviewers());
    for (const core::LaterReviewers& one : item_.state.later) {
      line("later", fmt::format("from {} on {} may answer too, says rule `{}`", rfc3339(one.at),
                                fmt::join(one.to, ", "), one.rule));
    }
    if (item_.state.reason_required && item_.status == core::ApprovalStatus::Pending) {
      line("reason", "required: approve with `--reason TEXT`");
    }
    add(consequence());
    add_answers();
    if (!result.is_null()) add("result     " + json_in_lines(shown(result), 11));
    if (!core::is_question(item_.request)) {
      add("input      " + with_lookalikes(json_in_lines(shown(input()), 11)));
    }
    add_hidden();
    add("binding    " + text("binding").substr(7, 8));
    return std::move(lines_);
  }

 private:
  void add(std::string text) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  std::string text(std::string_view name) const { return text_or_empty(item_.request, name); }
  void line(std::string_view name, const std::string& value) {
    if (!value.empty()) add(fmt::format("{:<10} {}", name, visible(value)));
  }
  json::value shown(const json::value& value) const {
    return full_ ? value : with_long_texts_cut(value, "--full");
  }
  std::string vote_text(const core::Vote& vote) const {
    if (!vote.approved) return "no";
    return item_.answer.empty() ? "yes" : "`" + visible(item_.answer) + "`";
  }
  void add_answers() {
    const auto because = [](const std::string& reason) {
      return reason.empty() ? std::string() : ": " + visible(reason);
    };
    for (std::size_t i = 0; i < item_.state.votes.size(); ++i) {
      const core::Vote& vote = item_.state.votes[i];
      const std::string reason = i < item_.reasons.size() ? item_.reasons[i] : std::string();
      add(fmt::format("{:<10} {} said {} at {} through {}{}", "answer", visible(vote.by),
                      vote_text(vote), visible(vote.at), visible(vote.door), because(reason)));
    }
    const json::object* const ended = item_.ended.if_object();
    if (ended == nullptr) return;
    add(fmt::format("{:<10} {} at {} by {}{}", "ended", text_or_empty(*ended, "state"),
                    visible(text_or_empty(*ended, "at")), visible(enders(*ended)),
                    because(text_or_empty(*ended, "reason"))));
  }
  // The people who ended it, or the door, such as the clock.
  static std::string enders(const json::object& ended) {
    std::string names;
    for (const json::value& name : ended.at("by").as_array()) {
      if (name.is_string()) names += (names.empty() ? "" : ", ") + std::string(name.get_string());
    }
    return names.empty() ? "the " + text_or_empty(ended, "door") : names;
  }
  // Lists the hidden parts of the input above, and how to see them.
  void add_hidden() {
    for (const core::HiddenPart& part : item_.hidden) {
      add(fmt::format("{:<10} {}{}", item_.exact ? "secret" : "hidden", visible(part.text()),
                      part.command ? "; it is part of a command" : ""));
    }
    if (item_.hidden.empty() || item_.exact || item_.status != core::ApprovalStatus::Pending)
      return;
    add(fmt::format("{:<10} see it with `sallyport approvals show {} --reveal`, as a reviewer", "",
                    item_.id));
  }
  json::value input() const {
    if (item_.exact) return *item_.exact;
    const json::value* const args = item_.request.if_contains("args");
    if (args == nullptr || !args->is_array()) return "(erased)";
    return args->get_array().size() == 1 ? args->get_array().front() : json::value();
  }
  std::string reviewers() const {
    std::string names;
    const json::value* const listed = item_.request.if_contains("reviewers");
    if (listed != nullptr && listed->is_array()) {
      for (const json::value& name : listed->get_array()) {
        if (name.is_string()) names += (names.empty() ? "" : ", ") + std::string(name.get_string());
      }
    }
    for (const std::string& name : item_.state.also) {
      if (!names.empty()) names += fmt::format(", {} (escalated to)", name);
    }
    return fmt::format("{} of {}", item_.state.required,
                       names.empty() ? "all registered approvers" : names);
  }
  std::string consequence() const {
    if (core::is_question(item_.request)) {
      if (item_.status == core::ApprovalStatus::Pending)
        return "next       the program that asked gets your answer, in your words";
      return item_.status == core::ApprovalStatus::Approved
                 ? "then       the program that asked has these words"
                 : "then       it stays without an answer";
    }
    const bool proposal = bool_in(item_.request, "proposal").value_or(false);
    if (item_.status == core::ApprovalStatus::Pending) {
      return proposal ? "if yes     it runs once, without the agent"
                      : "if yes     the waiting call runs once, with exactly the input below";
    }
    if (item_.status == core::ApprovalStatus::Approved)
      return "next       it runs once, if it is used in time";
    return item_.status == core::ApprovalStatus::Used ? "then       it ran"
                                                      : "then       it did not run, and will not";
  }

  const ApprovalItem& item_;
  bool full_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> approval_page(const ApprovalItem& item, const json::value& result,
                                       bool full) {
  return Page(item, full).lines(result);
}

}  // namespace sallyport::app
