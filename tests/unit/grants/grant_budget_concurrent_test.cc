// Many calls on one budget, on a real ledger: exactly as many run as it has room for.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "grant_samples.h"
#include "grants/grant_guard.h"
#include "grants/token_facts.h"
#include "support/governed.h"
#include "support/test_clock.h"
#include "support/test_ledger.h"

namespace sallyport::grants {
namespace {

using namespace test;

// Counts calls and answers; any thread may use it.
class Counter final : public core::Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    ++calls;
    co_return Envelope::of(1);
  }
  std::atomic<int> calls = 0;
};

class GrantBudgetConcurrentTest : public testing::Test {
 protected:
  GrantBudgetConcurrentTest() {
    clock.step_wall(at(kInside) - clock.wall());
    ledger.clock = &clock;
    ledger.open();
  }

  // Makes calls from several threads at once, each through a Governor.
  void run_all(const json::object& token, int threads, int each) {
    const auto guard = std::make_shared<GrantGuard>(
        GrantGuard::Settings{.trusted_issuers = trusting_a(), .required = {{"*", "*"}}}, *ledger,
        clock);
    core::FixedPlan plan(*core::PlanBuilder().autonomy(Autonomy::ActAuto).guard(guard).build());
    SystemEntropy entropy;
    core::NoRedactor redactor;
    core::Governor governor({.plans = plan,
                             .recorder = *ledger,
                             .redactor = redactor,
                             .clock = clock,
                             .entropy = entropy,
                             .digest = ledger->digest()});
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      boost::asio::io_context& loop = *loops.emplace_back(new boost::asio::io_context);
      all.emplace_back([&] {
        for (int k = 0; k < each; ++k) {
          const Call call{.agent_id = "agent:a",
                          .tool = "t",
                          .input = json::object{},
                          .grants = {text_of(token)}};
          const Result<Answer> answer = run_on(loop, governor.run(call, upstream));
          if (!answer) {
            ++errors;
          } else if (answer->outcome.kind == Outcome::Kind::Completed) {
            ++completed;
          } else if (answer->outcome.text == "grant_budget" ||
                     answer->outcome.text == "grant_rate") {
            ++denied;
          }
        }
      });
    }
    for (std::thread& thread : all) thread.join();
  }

  static Result<Answer> run_on(boost::asio::io_context& loop, Task<Answer> call) {
    std::optional<Result<Answer>> answer;
    boost::asio::co_spawn(
        loop, std::move(call),
        [&](const std::exception_ptr&, Result<Answer> value) { answer = std::move(value); });
    loop.restart();
    loop.run();
    return std::move(*answer);
  }

  std::uint64_t used(const json::object& token) {
    return core::budgets::count(*ledger, counter_key(digest_of(token), 0))->used;
  }

  // Destroyed before the ledger: its thread may still be leaving a loop that it has woken.
  std::vector<std::unique_ptr<boost::asio::io_context>> loops;
  sallyport::test::TestClock clock;
  sallyport::test::TestLedger ledger;
  std::shared_ptr<Counter> upstream = std::make_shared<Counter>();
  std::atomic<int> completed = 0, denied = 0, errors = 0;
};

// CG-54
TEST_F(GrantBudgetConcurrentTest, OfManyCallsExactlyAsManyRunAsTheBudgetAllows) {
  const json::object token = token_with({with(grant(), "max_invocations", 25)});
  run_all(token, 8, 10);
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(upstream->calls, 25);
  EXPECT_EQ(completed, 25);
  EXPECT_EQ(denied, 55);
  EXPECT_EQ(used(token), 25u);
}

// CG-54
TEST_F(GrantBudgetConcurrentTest, TheSameHoldsForARate) {
  const json::object token =
      token_with({with(grant(), "rate", json::object{{"max", 7}, {"per_seconds", 60}})});
  run_all(token, 4, 5);
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(upstream->calls, 7);
  EXPECT_EQ(denied, 13);
}

// CG-54
TEST_F(GrantBudgetConcurrentTest, CountersSurviveARestart) {
  const json::object token = token_with({with(grant(), "max_invocations", 3)});
  run_all(token, 1, 2);
  ledger.close();
  ledger.open();
  run_all(token, 2, 2);
  EXPECT_EQ(upstream->calls, 3);
  EXPECT_EQ(used(token), 3u);
}

}  // namespace
}  // namespace sallyport::grants
