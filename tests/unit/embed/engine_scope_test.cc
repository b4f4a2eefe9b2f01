// Scopes of autonomy around calls of a program, and scopes that its policy adds around them.
#include "base/clock.h"
#include "engine_setup.h"

namespace sallyport::test {
namespace {

class EngineScopeTest : public testing::Test {
 protected:
  std::unique_ptr<Engine> engine_with(std::string policy,
                                      std::optional<Autonomy> autonomy = Autonomy::ActAuto) {
    EngineBuilder builder("");
    builder.tool(act_.tool()).tool(look_.tool());
    if (autonomy) builder.autonomy(*autonomy);
    if (!policy.empty()) builder.policy("version: 1\n" + policy);
    return opened(builder);
  }
  static json::object record_of(Engine& engine, const Call& call) {
    const Result<Answer> answer = engine.call(call, {.hold = false});
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? engine.record_json({.call_id = answer->call_id})->back() : json::object();
  }
  // Returns tier and source, as the record names them.
  static std::string tier_of(Engine& engine, const Call& call) {
    const json::object record = record_of(engine, call);
    return std::string(record.at("autonomy").as_string()) + " by " +
           std::string(record.at("autonomy_source").as_string());
  }

  CountedTool act_{"act", kActs};
  CountedTool look_{"look", kLooks};
};

Call scoped(const AutonomyScopes& scopes, std::string tool = "act") {
  Call call = call_of(std::move(tool));
  call.scopes = scopes;
  return call;
}

// AT-7 AT-13
TEST_F(EngineScopeTest, AScopeHoldsUntilItIsLeft) {
  const auto engine = engine_with("");
  AutonomyScopes scopes;
  EXPECT_EQ(tier_of(*engine, scoped(scopes)), "act_auto by plan");
  try {
    const auto inside = scopes.push({{"tier", "shadow"}});
    ASSERT_TRUE(inside);
    EXPECT_EQ(scopes.depth(), 1u);
    EXPECT_EQ(tier_of(*engine, scoped(scopes)), "shadow by scope");
    throw std::runtime_error("the work fails");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(scopes.depth(), 0u);
  EXPECT_EQ(tier_of(*engine, scoped(scopes)), "act_auto by plan");
  EXPECT_EQ(act_.runs(), 2);
}

// AT-9
TEST_F(EngineScopeTest, AToolThatOnlyLooksIsNotTiered) {
  const auto engine = engine_with("");
  AutonomyScopes scopes;
  const auto inside = scopes.push({{"tier", "shadow"}});
  EXPECT_EQ(record_of(*engine, scoped(scopes, "look")).at("outcome").at("kind"),
            json::value("completed"));
}

// AT-14 AT-16
TEST_F(EngineScopeTest, ASubAgentStartsWithItsParentsScopesAndCannotWidenThem) {
  const auto engine = engine_with("autonomy: {tier: act_auto}\n");
  AutonomyScopes parent;
  const auto outer = parent.push({{"tier", "suggest"}});
  AutonomyScopes child = parent;
  const auto inner = child.push({{"tier", "act_auto"}, {"requires_human", false}});
  ASSERT_TRUE(inner);
  EXPECT_EQ(child.depth(), 2u);
  EXPECT_EQ(parent.depth(), 1u);
  EXPECT_EQ(tier_of(*engine, scoped(child)), "suggest by scope");
  EXPECT_EQ(act_.runs(), 0);
}

// AT-14 AT-15
TEST_F(EngineScopeTest, AScopeNarrowsWhoIsAskedAndForHowLong) {
  std::optional<Question> asked;
  EngineBuilder builder("");
  builder.tool(act_.tool()).autonomy(Autonomy::ActAuto).approver([&](const Question& question) {
    asked = question;
    return Result<Reply>(Reply::deny("user:bo", "no"));
  });
  const auto engine = opened(builder);
  AutonomyScopes scopes;
  const auto outer = scopes.push({{"tier", "act_with_approval"},
                                  {"reviewers", {"user:ada", "user:bo", "user:cy"}},
                                  {"deadline_s", 60},
                                  {"quorum", 2}});
  const auto inner = scopes.push(
      {{"reviewers", {"user:bo", "user:cy", "user:di"}}, {"deadline_s", 600}, {"quorum", 1}});
  ASSERT_TRUE(inner);
  ASSERT_TRUE(engine->call(scoped(scopes)));
  EXPECT_EQ(act_.runs(), 0);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->reviewers, (std::vector<std::string>{"user:bo", "user:cy"}));
  EXPECT_EQ(asked->approvers_required, 2u);
  const auto time = [](const std::string& text) { return *from_rfc3339(text); };
  EXPECT_LE(time(asked->expires_at) - time(asked->requested_at), std::chrono::seconds(60));
  const std::size_t depth = scopes.depth();
  EXPECT_EQ(scopes.push({{"reviewers", {"user:ada"}}}).error().where, "reviewers");
  EXPECT_EQ(scopes.depth(), depth);
}

// AT-10
TEST_F(EngineScopeTest, AScopeForAnotherAgentOrWithUnknownMembersIsRefused) {
  AutonomyScopes scopes;
  EXPECT_EQ(scopes.push({{"agent_id", "agent:b"}}, kAgent).error().where, "agent_id");
  EXPECT_FALSE(scopes.push({{"colour", "red"}}));
  EXPECT_FALSE(scopes.push("suggest"));
  std::vector<AutonomyScopes::Entered> all;
  for (int i = 0; i < 16; ++i) all.push_back(std::move(*scopes.push(json::object{})));
  EXPECT_EQ(scopes.push(json::object{}).error().where, "scopes");
  while (!all.empty()) all.pop_back();
  EXPECT_EQ(scopes.depth(), 0u);
}

// AT-14 AT-18 AT-19
TEST_F(EngineScopeTest, TheBudgetOfAScopeIsCounted) {
  const auto engine = engine_with("");
  AutonomyScopes scopes;
  const auto inside = scopes.push({{"budget", {{"max_per_hour", 1}}}});
  EXPECT_EQ(tier_of(*engine, scoped(scopes)), "act_auto by tier");
  EXPECT_EQ(tier_of(*engine, scoped(scopes)), "act_with_approval by budget");
  EXPECT_EQ(act_.runs(), 1);
}

// AT-4
TEST_F(EngineScopeTest, TheTierOfTheContextCountsWhereThePolicySaysNothing) {
  Call call = call_of("act");
  call.context_tier = Autonomy::ActAuto;
  EXPECT_EQ(tier_of(*engine_with("", {}), call), "act_auto by dispatch_context");
  EXPECT_EQ(tier_of(*engine_with("autonomy: {tier: suggest}\n", {}), call), "suggest by tier");
  EXPECT_EQ(tier_of(*engine_with("autonomy: {}\n", {}), call), "act_auto by dispatch_context");
  EXPECT_EQ(tier_of(*engine_with("", Autonomy::Suggest), call), "suggest by tier");
}

// AT-7 AT-13
TEST_F(EngineScopeTest, APolicyPutsScopesAroundSomeCalls) {
  const auto engine = engine_with(
      "scopes:\n"
      "  - {for: {session: \"nightly-*\"}, autonomy: {tier: suggest}}\n"
      "  - {for: {agent: \"agent:b*\", front: library}, autonomy: {tier: shadow}}\n");
  EXPECT_EQ(tier_of(*engine, call_of("act")), "act_auto by tier");
  Call nightly = call_of("act");
  nightly.session_id = "nightly-7";
  EXPECT_EQ(tier_of(*engine, nightly), "suggest by scope");
  Call other = call_of("act");
  other.agent_id = "agent:bot";
  EXPECT_EQ(tier_of(*engine, other), "shadow by scope");
  other.session_id = "nightly-8";
  EXPECT_EQ(tier_of(*engine, other), "shadow by scope");
}

// AT-15 AT-32
TEST_F(EngineScopeTest, AScopeOfAPolicyThatCannotHoldIsRefusedWithItsPlace) {
  const auto refusal = [](const std::string& policy) {
    const auto engine = EngineBuilder("").policy("version: 1\n" + policy).open();
    return engine ? std::string("none") : engine.error().where + " " + engine.error().message;
  };
  EXPECT_NE(refusal("scopes:\n  - {for: {}, autonomy: {tier: suggest}}\n").find("policy:3:"),
            std::string::npos);
  EXPECT_NE(refusal("scopes:\n  - {for: {session: x}, autonomy: {tier: some}}\n").find("policy:3:"),
            std::string::npos);
  EXPECT_NE(refusal("autonomy: {reviewers: [\"user:ada\"]}\n"
                    "scopes:\n  - {for: {session: x}, autonomy: {reviewers: [\"user:bo\"]}}\n")
                .find("may review here"),
            std::string::npos);
  EXPECT_NE(
      refusal("scopes:\n  - {for: {session: x}, autonomy: {agent_id: \"agent:x\"}}\n").find("for"),
      std::string::npos);
}

}  // namespace
}  // namespace sallyport::test
