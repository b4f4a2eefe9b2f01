// A Governor that requires grants of key A, at a time when the sample tokens are valid.
#pragma once

#include <gtest/gtest.h>

#include "core/plan/budgets.h"
#include "grant_samples.h"
#include "grants/grant_guard.h"
#include "grants/grant_result_guard.h"
#include "grants/spending.h"
#include "grants/token_facts.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::grants::test {

using sallyport::test::FunctionGuard;
using sallyport::test::FunctionResultGuard;
using sallyport::test::Governed;
using sallyport::test::run_now;
using sallyport::test::text_at;

class GovernedGrants : public testing::Test {
 protected:
  GovernedGrants() {
    clock.step_wall(at(kInside) - clock.wall());
    governed.clock = &clock;
    governed.plan.tool("", "read_file", {Tier::Observe, "none"});
    settings.trusted_issuers = trusting_a();
    settings.required = {{"*", "*"}};
  }

  void build() {
    if (built_) return;
    built_ = true;
    guard = std::make_shared<const GrantGuard>(settings, governed.recorder, clock);
    governed.plan.guard(guard).result_guard(std::make_shared<GrantResultGuard>());
  }

  static Call call_with(const json::object& token, json::value input = {{"path", "/srv/app/x"}}) {
    return {.agent_id = "agent:a",
            .session_id = "s-1",
            .server = "fs",
            .tool = "read_file",
            .input = std::move(input),
            .grants = {text_of(token)}};
  }
  Result<Answer> run(Call call, core::Caller caller = {}) {
    build();
    return governed.call(std::move(call), std::move(caller));
  }
  // Returns `completed`, or the reason of the block.
  std::string outcome(Call call) {
    const Result<Answer> answer = run(std::move(call));
    if (!answer) return answer.error().message;
    return answer->outcome.kind == Outcome::Kind::Blocked
               ? answer->outcome.text
               : std::string(to_string(answer->outcome.kind));
  }
  std::string outcome(const json::object& token) { return outcome(call_with(token)); }

  std::string last(std::string_view pointer) {
    return text_at(governed.recorder.records().back(), pointer);
  }
  std::string count_of(const json::object& token, std::uint64_t index = 0) {
    const auto count =
        core::budgets::count(governed.recorder, counter_key(digest_of(token), index));
    return std::to_string(count->used) + " used, " + std::to_string(count->held) + " held";
  }
  void revoke(std::string_view id) {
    std::vector<core::Draft> drafts;
    drafts.push_back({.kind = core::Kind::Control, .facts = {revoked_fact(std::string(id))}});
    ASSERT_TRUE(run_now(governed.recorder.append(std::move(drafts), core::Urgency::Reports)));
  }

  sallyport::test::TestClock clock;
  Governed governed;
  GrantGuard::Settings settings;
  std::shared_ptr<const GrantGuard> guard;

 private:
  bool built_ = false;
};

}  // namespace sallyport::grants::test
