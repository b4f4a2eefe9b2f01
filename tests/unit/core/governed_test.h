// The common steps of tests of governed calls: one call, with an approver or a listener, and its
// records.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/call/governor.h"
#include "support/governed.h"

namespace sallyport::core {

class GovernedTest : public testing::Test {
 protected:
  using Governed = test::Governed;
  using Names = std::vector<std::string>;

  Answer call(Call asked = Governed::read_file(), Caller caller = {}) {
    const Result<Answer> answer = governed.call(std::move(asked), std::move(caller));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(Answer{});
  }

  std::shared_ptr<test::FakePreparer> prepares() {
    const auto preparer = std::make_shared<test::FakePreparer>();
    governed.tool = preparer;
    return preparer;
  }

  void asks(test::FunctionApprover::Decide decide) {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    governed.approver = std::make_shared<test::FunctionApprover>(std::move(decide));
  }

  void hears(test::FunctionHook::Hear hear) {
    ASSERT_TRUE(
        governed.hooks.with_hook(std::make_shared<test::FunctionHook>("siem", std::move(hear))));
  }

  // Asks a person who refuses, and returns the call, which may then be resumed.
  Governor::Resumption refused_by_a_person() {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    const Answer waiting = call(Governed::read_file(), Caller{.holds = false});
    EXPECT_TRUE(test::run_now(governed.governor().approvals().answer(
        waiting.approval_id, Reply::deny("user:ada", "no"))));
    Call waited = Governed::read_file();
    waited.call_id = waiting.call_id;
    return {.call = std::move(waited), .approval_id = waiting.approval_id};
  }

  Draft last_record() const { return governed.recorder.records().back(); }

  Names outcomes() const {
    Names found;
    for (const Draft& record : governed.recorder.records()) found.push_back(record.outcome);
    return found;
  }

  std::size_t open_calls() { return governed.recorder.facts("open_call")->size(); }

  std::string state_of(const std::string& approval_id) {
    return std::string(to_string((*governed.governor().approvals().state(approval_id))->status));
  }

  Governed governed;
};

}  // namespace sallyport::core
