// A front that attends a call waiting for approval, whose client may have disconnected.
#include "core/approval/attendant.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>

#include "core/approval/doors.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionApprover;
using test::Governed;
using test::run_now;

class Watcher final : public Attendant {
 public:
  explicit Watcher(std::function<bool(int looks)> is_away) : is_away_(std::move(is_away)) {}

  void asked(const WaitingCall& call) override { calls.push_back(call); }
  void answered() override { ++answers; }
  bool away() const override { return is_away_(++looks); }

  std::vector<WaitingCall> calls;
  int answers = 0;
  mutable int looks = 0;

 private:
  std::function<bool(int looks)> is_away_;
};

class AttendantTest : public testing::Test {
 protected:
  AttendantTest() {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    governed.approver = std::make_shared<FunctionApprover>(
        [](const Question&) { return Reply::approve("user:ada"); });
  }
  std::string state_of(const std::string& id) {
    return std::string(to_string((*governed.governor().approvals().state(id))->status));
  }

  Governed governed;
};

// AP-35 (partly)
TEST_F(AttendantTest, AYesIsUsedWhenTheClientIsBackAndNotBefore) {
  const auto watcher = std::make_shared<Watcher>([&](int looks) {
    EXPECT_TRUE(governed.upstream->calls.empty());
    return looks < 3;
  });
  const Result<Answer> answer = governed.call(Governed::read_file(), Caller{.attendant = watcher});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->result.success);
  EXPECT_EQ(watcher->looks, 3);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  ASSERT_EQ(watcher->calls.size(), 1u);
  EXPECT_EQ(watcher->answers, 1);
  EXPECT_EQ(watcher->calls.front().approval_id, answer->approval_id);
  EXPECT_EQ(watcher->calls.front().call_id, answer->call_id);
  EXPECT_EQ(state_of(answer->approval_id), "used");
}

// AP-19 (partly) AP-35 (partly)
TEST_F(AttendantTest, AYesThatNobodyComesBackForExpires) {
  test::TestClock clock;
  governed.clock = &clock;
  governed.plan.approvals({.use_within = std::chrono::seconds(30)});
  const auto watcher = std::make_shared<Watcher>([&](int) {
    clock.advance(std::chrono::seconds(20));
    return true;
  });
  const Result<Answer> answer = governed.call(Governed::read_file(), Caller{.attendant = watcher});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("approval_expired"));
  EXPECT_EQ(state_of(answer->approval_id), "expired");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-18 (partly)
TEST_F(AttendantTest, ACancelEndsACallWhoseClientIsAway) {
  std::stop_source stop;
  const auto watcher = std::make_shared<Watcher>([&](int looks) {
    if (looks == 2) stop.request_stop();
    return true;
  });
  const Result<Answer> answer = governed.call(
      Governed::read_file(), Caller{.cancel = stop.get_token(), .attendant = watcher});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("cancelled"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// AP-31 (partly)
TEST_F(AttendantTest, AnAnswerThroughTheClientNeverServesDualControl) {
  governed.plan.approvals({.dual_control = {Governed::read_file().tool}});
  const auto ask = [&](std::string door) {
    Call call = Governed::read_file();
    call.tool_call_id = call.session_id = "of " + door;
    const Result<Answer> asked = governed.call(call, Caller{.holds = false});
    for (const std::string& who : {"user:ada", "user:bo"}) {
      Reply reply = Reply::approve(who);
      if (who == "user:bo") reply.door = door;
      const auto& id = asked->approval_id;
      EXPECT_TRUE(run_now(governed.governor().approvals().answer(id, reply)));
    }
    EXPECT_EQ(state_of(asked->approval_id), "approved");
    call.call_id = asked->call_id;
    Governor::Resumption waited{.call = call, .approval_id = asked->approval_id};
    return run_now(governed.governor().resume(std::move(waited), governed.upstream));
  };
  const Result<Answer> good = ask("cli:key");
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->result.success);
  for (const std::string_view door : {kClientDoor, kAgentTerminalDoor}) {
    const Result<Answer> bad = ask(std::string(door));
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->outcome, Outcome::blocked("approval_invalid: a person has to answer elsewhere"));
  }
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

}  // namespace
}  // namespace sallyport::core
