// Facts of earlier moments, recomputed from entries, against the facts as they were.
#include "records/fact_history.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <random>

#include "grants/grant_guard.h"
#include "ledger/read/store_reader.h"
#include "support/governed_ledger.h"
#include "support/test_clock.h"
#include "unit/grants/grant_samples.h"

namespace sallyport::app {
namespace {

using namespace grants::test;
using sallyport::test::FunctionApprover;
using sallyport::test::Governed;

struct Moment {
  std::uint64_t size = 0;
  std::map<core::FactKey, std::string> facts{};
};

// A governed ledger whose calls present tokens, and whose writes wait for approval.
class FactHistoryTest : public testing::Test, protected sallyport::test::GovernedLedger {
 protected:
  FactHistoryTest() { times.step_wall(at(kInside) - times.wall()); }

  void begin() {
    ledger.open();
    guard = std::make_shared<const grants::GrantGuard>(
        grants::GrantGuard::Settings{.trusted_issuers = trusting_a(), .required = {{"*", "*"}}},
        *ledger, times);
    plan = core::PlanBuilder()
               .autonomy(Autonomy::ActWithApproval)
               .tool("", "read_file", {Tier::Observe, "none"})
               .tool("", "write_file", {Tier::Confirm, "fs.write"})
               .guard(guard);
    plans.emplace(*plan.build());
    governor.emplace(core::Governor::Parts{.plans = *plans,
                                           .recorder = *ledger,
                                           .redactor = *ledger.redactor,
                                           .clock = times,
                                           .entropy = entropy,
                                           .digest = ledger->digest(),
                                           .sinks = sinks,
                                           .approver = approver});
  }

  Moment now() {
    Moment moment;
    ledger::StoreReader reader(ledger.store());
    moment.size = reader.moment({})->size;
    for (const char* const space : {"budget", "budget_charge"}) {
      for (const core::Fact& fact : *reader.facts(space)) {
        moment.facts[{fact.space, fact.key}] = *fact.value;
      }
    }
    return moment;
  }

  sallyport::test::TestClock times;
  std::shared_ptr<const grants::GrantGuard> guard;
};

// WB-10
TEST_F(FactHistoryTest, BudgetsOfGrantsAreToldByEntriesAlone) {
  std::mt19937 random(7);
  approver = std::make_shared<FunctionApprover>([&](const Question&) {
    return random() % 2 == 0 ? Reply::approve("user:ada") : Reply::deny("user:ada", "no");
  });
  begin();
  const auto rated = [](std::uint64_t most) {
    return with(grant(), "rate", json::object{{"max", most}, {"per_seconds", 60}});
  };
  const json::object parent = token_with({rated(3)}, 1);
  const std::vector<json::object> tokens = {
      token_with({with(grant(), "max_invocations", 5), rated(2)}, 2), parent,
      child_of(parent, {with(rated(2), "from", 0)}, 3),
      child_of(parent, {with(with(rated(3), "max_invocations", 4), "from", 0)}, 4)};
  std::vector<Moment> moments;
  for (int i = 0; i < 90; ++i) {
    Call call = Governed::read_file();
    call.tool = random() % 3 == 0 ? "write_file" : "read_file";
    call.input = {{"path", fmt::format("/tmp/{}", i)}};
    call.grants = {text_of(tokens[random() % tokens.size()])};
    ASSERT_TRUE(this->call(std::move(call), core::Caller{.holds = random() % 4 != 0}));
    moments.push_back(now());
    times.advance(std::chrono::seconds(random() % 30));
    if (i % 30 == 29) {
      close();
      begin();
    }
  }
  FactHistory history(ledger.store());
  for (const json::object& each : tokens) {
    history.add_token(*grants::read_token(text_of(each)));
  }
  std::size_t told = 0;
  bool held = false;
  std::ranges::shuffle(moments, random);
  for (const Moment& moment : moments) {
    for (const auto& [key, value] : moment.facts) {
      std::set<std::string> unknown;
      const auto fact = history.fact(key.space, key.key, moment.size, unknown);
      ASSERT_TRUE(fact) << fact.error().message;
      EXPECT_EQ(unknown, std::set<std::string>());
      EXPECT_EQ(*fact, value) << key.space << " " << key.key << " at " << moment.size;
      held = held || value.contains("\"held\":1");
      ++told;
    }
  }
  EXPECT_GT(told, 200U);
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace sallyport::app
