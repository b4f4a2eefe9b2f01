#include "autonomy/scope_stack.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <stdexcept>
#include <thread>

namespace sallyport::autonomy {
namespace {

namespace asio = boost::asio;

const Action kWrite{.agent = "bot", .tool = "write_file", .effect_class = "fs.write"};

// AT-13
TEST(ScopeStackTest, AScopeIsLeftOnEveryExit) {
  ScopeStack scopes;
  {
    const auto entered = scopes.enter({.tier = Autonomy::Shadow});
    ASSERT_TRUE(entered);
    EXPECT_EQ(scopes.cap(kWrite), Autonomy::Shadow);
  }
  EXPECT_EQ(scopes.cap(kWrite), std::nullopt);
  const auto fails = [&] {
    const auto entered = scopes.enter({.tier = Autonomy::Shadow});
    throw std::runtime_error("a tool failed");
  };
  EXPECT_THROW(fails(), std::runtime_error);
  EXPECT_EQ(scopes.depth(), 0u);
}

asio::awaitable<void> hop(asio::io_context& other) {
  co_await asio::post(other, asio::use_awaitable);
}

asio::awaitable<void> work(ScopeStack& scopes, asio::io_context& there, std::vector<int>& seen) {
  const auto entered = scopes.enter({.tier = Autonomy::Suggest});
  co_await hop(there);
  seen.push_back(scopes.cap(kWrite) == Autonomy::Suggest ? 1 : 0);
  co_await hop(there);
}

// AT-13
TEST(ScopeStackTest, AScopeFollowsItsTaskToAnotherThreadAndNobodyElse) {
  asio::io_context here;
  asio::io_context there;
  const auto busy = asio::make_work_guard(there);
  std::thread thread([&] { there.run(); });
  ScopeStack mine;
  ScopeStack others;
  std::vector<int> seen;
  asio::co_spawn(here, work(mine, there, seen), [](std::exception_ptr) {});
  here.run();
  EXPECT_EQ(seen, std::vector<int>{1});
  EXPECT_EQ(mine.depth(), 0u);
  EXPECT_EQ(others.depth(), 0u);
  there.stop();
  thread.join();
}

asio::awaitable<void> wait_for_ever(ScopeStack& scopes) {
  const auto entered = scopes.enter({.tier = Autonomy::Shadow});
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
  co_await timer.async_wait(asio::use_awaitable);
}

// AT-13
TEST(ScopeStackTest, AScopeOfATaskThatIsGivenUpIsLeft) {
  ScopeStack scopes;
  {
    asio::io_context loop;
    asio::co_spawn(loop, wait_for_ever(scopes), [](std::exception_ptr) {});
    loop.poll();
    EXPECT_EQ(scopes.depth(), 1u);
  }
  EXPECT_EQ(scopes.depth(), 0u);
}

// AT-14
TEST(ScopeStackTest, AnInnerScopeThatAsksForMoreGetsTheOuterValue) {
  ScopeStack scopes;
  const auto outer = scopes.enter({.tier = Autonomy::Suggest,
                                   .requires_human = true,
                                   .quorum = 2,
                                   .deadline_s = 60,
                                   .use_within_s = 30,
                                   .budget = {.max_per_hour = 5, .max_per_day = 50}});
  ASSERT_TRUE(outer);
  const Bounds held = scopes.bounds();
  const auto inner = scopes.enter({.tier = Autonomy::ActAuto,
                                   .requires_human = false,
                                   .quorum = 1,
                                   .deadline_s = 600,
                                   .use_within_s = 300,
                                   .budget = {.max_per_hour = 6, .max_per_day = 500}});
  ASSERT_TRUE(inner);
  EXPECT_EQ(scopes.bounds(), held);
  EXPECT_EQ(scopes.cap(kWrite), Autonomy::Suggest);
  EXPECT_TRUE(scopes.needs_human_for(kWrite));
  const auto silent = scopes.enter({});
  ASSERT_TRUE(silent);
  EXPECT_EQ(scopes.bounds(), held);
  EXPECT_EQ(scopes.cap(kWrite), Autonomy::Suggest);
}

// AT-14
TEST(ScopeStackTest, AnInnerScopeMayAskForLess) {
  ScopeStack scopes(AutonomyPolicy{.quorum = 1, .deadline_s = 60, .budget = {.max_per_hour = 5}});
  const auto inner = scopes.enter({.action_tiers = {{"fs.write", Autonomy::Shadow}},
                                   .requires_human_actions = {"write_file"},
                                   .quorum = 2,
                                   .deadline_s = 10,
                                   .budget = {.max_per_hour = 1, .max_per_day = 2}});
  ASSERT_TRUE(inner);
  EXPECT_EQ(
      scopes.bounds(),
      (Bounds{.quorum = 2, .deadline_s = 10, .budget = {.max_per_hour = 1, .max_per_day = 2}}));
  EXPECT_EQ(scopes.cap(kWrite), Autonomy::Shadow);
  EXPECT_TRUE(scopes.needs_human_for(kWrite));
  EXPECT_FALSE(scopes.needs_human_for({"bot", "shell", "process.exec"}));
}

// AT-14
TEST(ScopeStackTest, TheCeilingOfAScopeCapsToo) {
  ScopeStack scopes;
  const auto outer = scopes.enter({.ceiling = Autonomy::Suggest});
  EXPECT_EQ(scopes.cap(kWrite), Autonomy::Suggest);
}

// AT-15
TEST(ScopeStackTest, ReviewersAreIntersectedAndAnEmptyRestIsRefused) {
  ScopeStack scopes(AutonomyPolicy{.reviewers = {"ada", "bo", "cy"}});
  const auto inner = scopes.enter({.reviewers = {"cy", "ada", "dan"}});
  ASSERT_TRUE(inner);
  EXPECT_EQ(scopes.bounds().reviewers, (std::vector<std::string>{"ada", "cy"}));
  const auto empty = scopes.enter({.reviewers = {"bo"}});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().where, "reviewers");
  EXPECT_EQ(scopes.depth(), 1u);
  const auto too_few = scopes.enter({.reviewers = {"ada"}, .quorum = 2});
  ASSERT_FALSE(too_few);
  EXPECT_EQ(too_few.error().where, "quorum");
  const auto silent = scopes.enter({});
  ASSERT_TRUE(silent);
  EXPECT_EQ(scopes.bounds().reviewers.size(), 2u);
}

// AT-16
TEST(ScopeStackTest, ASubAgentStartsWithItsParentsScopesAndKeepsThem) {
  ScopeStack parent;
  std::optional<ScopeStack> child;
  {
    const auto entered = parent.enter({.tier = Autonomy::Suggest});
    child = parent;
  }
  EXPECT_EQ(parent.cap(kWrite), std::nullopt);
  EXPECT_EQ(child->cap(kWrite), Autonomy::Suggest);
  const auto wider = child->enter({.tier = Autonomy::ActAuto});
  EXPECT_EQ(child->cap(kWrite), Autonomy::Suggest);
}

// AT-10 (partly)
TEST(ScopeStackTest, AScopeForAnotherThanTheAuthenticatedAgentIsRefused) {
  ScopeStack scopes;
  const auto other = scopes.enter({.agent_id = "admin"}, "bot");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().where, "agent_id");
  const auto same = scopes.enter({.agent_id = "bot"}, "bot");
  EXPECT_TRUE(same);
  const auto unknown = scopes.enter({.agent_id = "admin"});
  EXPECT_TRUE(unknown);
}

}  // namespace
}  // namespace sallyport::autonomy
