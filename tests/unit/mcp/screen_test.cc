#include "mcp/message/screen.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "core/plan/protocol_frame.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::mcp {
namespace {

// The screen once kept the first name of its process, also after the process had rejoined a shared
// log under another: the fail-open interval of the lost name was never ended.
// LE-71 SC-33
TEST(ScreenTest, WhatFailsOpenIsRecordedUnderTheNameOfNow) {
  sallyport::test::FakeRecorder recorder;
  sallyport::test::TestClock clock;
  core::PlanBuilder builder;
  builder.fail_open("broken").result_guard(std::make_shared<sallyport::test::FunctionResultGuard>(
      "broken", [](const Envelope&, const ResultContext&) -> Result<Verdict> {
        return fail(ErrorCode::Unavailable, "gone");
      }));
  sallyport::test::ChangingPlan plans(builder.build().value());
  Screen screen(plans, recorder, recorder, clock, {}, [](const Screen::Seen&) {});
  const auto pass = [&] {
    Message list = Message::read(R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})", {}).value();
    EXPECT_TRUE(sallyport::test::run_now(screen.pass("tools/list", std::move(list))));
    return recorder.written.back().facts.at(0).key;
  };
  recorder.instance = "first";
  EXPECT_EQ(pass(), "first/broken");
  recorder.instance = "second";
  EXPECT_EQ(pass(), "second/broken");
}

class ScreenedTest : public testing::Test {
 protected:
  // The effect on a message of a guard with this verdict.
  Result<Message> pass(const std::string& what, const std::string& text, Verdict verdict,
                       bool granted = false) {
    core::PlanBuilder builder;
    builder.result_guard(std::make_shared<sallyport::test::FunctionResultGuard>(
        "g", [this, verdict](const Envelope& envelope, const ResultContext& context) {
          effect_class = context.effect_class;
          scope = context.scope;
          judged = canonical_json(envelope.value);
          return verdict;
        }));
    sallyport::test::ChangingPlan plans(builder.build().value());
    Screen screen(plans, recorder, recorder, clock, {},
                  [this](const Screen::Seen& one) { seen.push_back(one); });
    return sallyport::test::run_now(screen.pass(what, Message::read(text, {}).value(), granted));
  }

  sallyport::test::FakeRecorder recorder;
  sallyport::test::TestClock clock;
  std::string effect_class;
  std::shared_ptr<const Scope> scope;
  std::string judged;
  std::vector<Screen::Seen> seen;
};

// PI-72 (partly): the messages that hold a session together are no results that could be cut.
TEST_F(ScreenedTest, ListsAndOpeningsAreFrames) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})";
  for (const char* const what : {"initialize", "server/discover", "tools/list", "prompts/get"}) {
    EXPECT_TRUE(pass(what, text, Verdict::allow()));
    EXPECT_EQ(effect_class == core::kProtocolFrame, std::string(what) != "prompts/get") << what;
  }
}

// A guard that needs the grant of a call withheld every list and every notification.
// PI-21 PI-73 (partly)
TEST_F(ScreenedTest, AMessagePresentsNoGrantUnlessACallUnderOneIsOpen) {
  const std::string list = R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})";
  const std::string told = R"({"jsonrpc":"2.0","method":"n","params":{"b":2}})";
  EXPECT_TRUE(pass("tools/list", list, Verdict::allow()));
  ASSERT_TRUE(scope);
  EXPECT_TRUE(scope->grants.empty());
  EXPECT_TRUE(pass("notifications/message", told, Verdict::allow()));
  EXPECT_TRUE(scope);
  EXPECT_TRUE(pass("notifications/message", told, Verdict::allow(), true));
  EXPECT_FALSE(scope) << "it may hold rows of the call";
  EXPECT_TRUE(pass("tools/list", list, Verdict::allow(), true));
  EXPECT_TRUE(scope);
}

TEST_F(ScreenedTest, WhatAMessageSaysIsJudgedWhereverItStands) {
  EXPECT_TRUE(pass("x", R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})", Verdict::allow()));
  EXPECT_EQ(judged, R"({"a":1})");
  EXPECT_TRUE(
      pass("x", R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}})", Verdict::allow()));
  EXPECT_EQ(judged, R"({"code":-1,"message":"m"})");
  EXPECT_TRUE(pass("x", R"({"jsonrpc":"2.0","method":"n","params":{"b":2}})", Verdict::allow()));
  EXPECT_EQ(judged, R"({"b":2})");
  judged.clear();
  EXPECT_TRUE(pass("x", R"({"jsonrpc":"2.0","method":"n"})", Verdict::deny("no")));
  EXPECT_EQ(judged, "") << "it says nothing";
  EXPECT_TRUE(seen.empty());
}

TEST_F(ScreenedTest, WhatIsWithheldOrChangedIsTold) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})";
  EXPECT_FALSE(pass("x", text, Verdict::deny("no")));
  const Result<Message> changed =
      pass("x", text, Verdict::rewrite(Envelope::of({{"a", 2}}).to_json()));
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->text, R"({"jsonrpc":"2.0","id":1,"result":{"a":2}})");
  EXPECT_FALSE(pass("x", text, Verdict::rewrite(Envelope::of("a text").to_json())))
      << "no message any more";
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_TRUE(seen[0].withheld);
  EXPECT_FALSE(seen[1].withheld);
  EXPECT_TRUE(seen[2].withheld);
  EXPECT_TRUE(seen[0].evidence.starts_with("g")) << seen[0].evidence;
}

// GR-72 (partly) PI-80 (partly)
TEST_F(ScreenedTest, WhatAGuardFoundIsToldAlsoIfTheMessagePasses) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})";
  Verdict noted = Verdict::allow();
  noted.findings = {{.body = {{"check", "words"}}}};
  EXPECT_TRUE(pass("x", text, noted));
  EXPECT_TRUE(pass("x", text, Verdict::escalate("look")));
  EXPECT_TRUE(pass("x", text, Verdict::allow()));
  Verdict denied = Verdict::deny("no");
  denied.findings = noted.findings;
  EXPECT_FALSE(pass("x", text, denied));
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_TRUE(seen[0].unchanged);
  EXPECT_EQ(seen[0].findings, noted.findings);
  EXPECT_TRUE(seen[1].unchanged);
  ASSERT_EQ(seen[1].escalations.size(), 1u);
  EXPECT_EQ(seen[1].escalations[0].message, "look");
  EXPECT_TRUE(seen[2].withheld);
  EXPECT_EQ(seen[2].findings, noted.findings);
}

}  // namespace
}  // namespace sallyport::mcp
