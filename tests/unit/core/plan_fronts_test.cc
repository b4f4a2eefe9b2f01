#include <gtest/gtest.h>

#include "core/plan/plan.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

std::shared_ptr<const Guard> allowing(std::string name) {
  return std::make_shared<test::FunctionGuard>(std::move(name),
                                               [](const Call&) { return Verdict::allow(); });
}

PlanBuilder policy() {
  PlanBuilder plan;
  plan.tool("", "Bash", {.tier = Tier::Observe, .effect_class = "none", .source = "policy"});
  plan.tool("", "Write", {.tier = Tier::Confirm, .effect_class = "fs.write", .source = "table"});
  plan.guard(allowing("first"));
  return plan;
}

TEST(PlanFrontsTest, WhatAFrontBringsIsNoPartOfTheHash) {
  PlanBuilder brought = policy();
  brought.extension_tool("host", "Look", {.tier = Tier::Observe, .effect_class = "none"});
  brought.extension_guard(allowing("pins"));
  const auto with = *brought.build();
  const auto without = *policy().build();
  EXPECT_EQ(with->hash(), without->hash());
  EXPECT_EQ(with->dump(), without->dump());
  EXPECT_EQ(with->classify({.server = "host", .tool = "Look"}).tier, Tier::Observe);
  ASSERT_EQ(with->guards().size(), 2u);
  EXPECT_EQ(with->guards().front()->traits().name, "pins");
}

TEST(PlanFrontsTest, ThePolicysWordAboutAToolCountsBeforeTheFronts) {
  PlanBuilder brought = policy();
  brought.extension_tool("host", "Bash", {.tier = Tier::Confirm, .effect_class = "process.exec"});
  brought.extension_tool("host", "Write", {.tier = Tier::Observe, .effect_class = "none"});
  const auto plan = *brought.build();
  // The policy states it for every server; the table knows less than the front does.
  EXPECT_EQ(plan->classify({.server = "host", .tool = "Bash"}).tier, Tier::Observe);
  EXPECT_EQ(plan->classify({.server = "host", .tool = "Write"}).tier, Tier::Observe);
  EXPECT_EQ(plan->classify({.server = "other", .tool = "Write"}).tier, Tier::Confirm);
}

TEST(PlanFrontsTest, AGuardOfAFrontHasANameOfItsOwn) {
  PlanBuilder brought = policy();
  brought.extension_guard(allowing("first"));
  EXPECT_FALSE(brought.build());
}

}  // namespace
}  // namespace sallyport::core
