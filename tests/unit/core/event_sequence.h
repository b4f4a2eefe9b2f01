// A governed call and its events, for the tests of their order.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "core/call/governor.h"
#include "support/governed.h"

namespace sallyport::core {

using test::FakeUpstream;
using test::FunctionGuard;
using test::FunctionHook;
using test::FunctionResultGuard;
using test::Governed;
using Names = std::vector<std::string>;

inline const Names kAllowed = {"tool_authorization_started", "tool_authorization_finished(allow)",
                               "tool_execution_started", "tool_execution_finished"};
inline const Names kDenied = {"tool_authorization_started", "tool_authorization_finished(deny)",
                              "tool_authorization_blocked(deny)"};
inline const Names kPrompted = {"tool_authorization_started", "tool_authorization_finished(prompt)",
                                "tool_authorization_blocked(prompt)"};
inline const Names kDeniedByPlan = {"tool_authorization_started", "policy_denied",
                                    "tool_authorization_finished(deny)",
                                    "tool_authorization_blocked(deny)"};
inline const Names kDeniedByHook = {"tool_authorization_started", "tool_execution_blocked",
                                    "tool_authorization_finished(deny)",
                                    "tool_authorization_blocked(deny)"};
inline const Names kIdempotencyRefused = {
    "tool_authorization_started", "tool_authorization_finished(allow)", "tool_execution_blocked"};

inline Names operator+(Names first, const Names& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class AnsweringApprover final : public Approver {
 public:
  explicit AnsweringApprover(Reply reply) : reply_(std::move(reply)) {}
  Task<Reply> answer(Question) const override { co_return reply_; }

 private:
  Reply reply_;
};

class EventSequence : public testing::Test {
 protected:
  Names events_of_call() {
    const Result<Answer> answer = governed.call(Governed::read_file());
    EXPECT_TRUE(answer);
    if (answer) last = *answer;
    return governed.recorder.events();
  }

  std::vector<json::object> payloads(std::string_view kind) const {
    std::vector<json::object> found;
    for (const Draft& draft : governed.recorder.of(Kind::Event)) {
      if (draft.body.at("kind").as_string() == kind) found.push_back(draft.body);
    }
    return found;
  }

  // Returns the member of every event that has one.
  std::set<std::string> reasons() const {
    std::set<std::string> found;
    for (const Draft& draft : governed.recorder.of(Kind::Event)) {
      const json::value* const reason = draft.body.if_contains("reason");
      if (reason && reason->is_string()) found.emplace(reason->get_string());
    }
    return found;
  }

  void guard(std::string name, FunctionGuard::Judge judge, Stage stage = Stage::ToolUse) {
    governed.plan.guard(std::make_shared<FunctionGuard>(std::move(name), std::move(judge), stage));
  }

  void result_guard(Verdict verdict) {
    governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
        "second", [verdict](const Envelope&, const ResultContext&) { return verdict; }));
  }

  // Refuses the event of one kind.
  void listener(std::string name, std::string_view kind) {
    ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
        std::move(name), [kind](const Event& event, const Subject&) -> Result<void> {
          if (event_type(event) == kind) return fail(ErrorCode::Internal, "not this");
          return {};
        })));
  }

  void forget_events() { governed.recorder.written.clear(); }
  // Rows keep their positions, because facts refer to them.
  void begin_to_count() { seen_ = governed.recorder.events().size(); }
  Names later_events() const {
    Names names = governed.recorder.events();
    names.erase(names.begin(), names.begin() + static_cast<long>(seen_));
    return names;
  }

  Governed governed;
  Answer last;

 private:
  std::size_t seen_ = 0;
};

}  // namespace sallyport::core
