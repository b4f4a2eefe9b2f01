#include "core/plan/authorizer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/test_clock.h"
#include "unit/core/shape_checks.h"

namespace sallyport::core {
namespace {

using test::FunctionGuard;
using test::Governed;

const auto read_request = [](const json::value& value) {
  return authorization_request_from_json(value);
};
const auto read_answer = [](const json::value& value) { return authorization_from_json(value); };

constexpr std::string_view kRequest =
    R"({"agent_id":"agent:a","agent_name":"Planner","model":"m-1","history_len":7,)"
    R"("tool_call_id":"toolu_1","tool_name":"read_file","preview":{"working_directory":"/w",)"
    R"("capabilities":["FilesystemRead"],"side_effect_level":"None","durability":"ReplaySafe",)"
    R"("execution_category":"ReadOnlyParallel","approval_category":"ReadOnly",)"
    R"("raw_input":{"path":"/tmp/x"},"structured_input":{"path":"/w/x"}}})";

class PreviewingUpstream final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return Envelope::of("ran");
  }
  Result<json::value> structured_input(const Call&) const override {
    return json::value{{"path", "/w/x"}};
  }
  std::string working_directory() const override { return "/w"; }
};

class AuthorizerTest : public testing::Test {
 protected:
  void authorizer(std::function<Result<Authorization>(const AuthorizationRequest&)> answer) {
    governed.plan.guard(std::make_shared<AuthorizerGuard>(
        "host",
        [this, answer = std::move(answer)](AuthorizationRequest request) -> Task<Authorization> {
          requests.push_back(request);
          co_return answer(request);
        }));
  }
  Answer call() {
    const Result<Answer> answer = governed.call(Governed::read_file());
    EXPECT_TRUE(answer);
    return answer ? *answer : Answer{};
  }
  json::object preview() const {
    return governed.recorder.of(Kind::Event).at(0).body.at("preview").as_object();
  }

  Governed governed;
  std::vector<AuthorizationRequest> requests;
};

// EV-87 EV-84
TEST_F(AuthorizerTest, RequestAndAnswerAreReadAndWrittenAgainByteForByte) {
  expect_round_trip(kRequest, read_request);
  expect_round_trip(R"({"outcome":"allow","reason":null})", read_answer);
  expect_round_trip(R"({"outcome":"prompt","reason":"why"})", read_answer);
  expect_round_trip(R"({"outcome":"deny","reason":"why"})", read_answer);
}

// EV-87
TEST_F(AuthorizerTest, AMemberThatIsMissingOrOfAnotherTypeIsNamed) {
  expect_each_member_is_checked(kRequest, "request",
                                {.open = {"/preview/raw_input", "/preview/structured_input"}},
                                read_request);
  expect_each_member_is_checked(R"({"outcome":"allow","reason":"r"})", "authorization",
                                {.optional = {"/reason"}}, read_answer);
  expect_words(R"({"outcome":"allow","reason":null})", "/outcome", "authorization.outcome",
               {"allow", "prompt", "deny"}, read_answer);
  expect_refused(json::value("allow"), "authorization", read_answer);
}

// EV-87 EV-84
TEST_F(AuthorizerTest, TheHostSeesTheCallAndItsPreview) {
  governed.tool = std::make_shared<PreviewingUpstream>();
  governed.plan.tool("", "read_file", {Tier::Observe, "fs.read"});
  authorizer([](const AuthorizationRequest&) { return Authorization{}; });
  Call asked = Governed::read_file();
  asked.agent_name = "Planner";
  asked.provenance.model = "m-1";
  asked.history_len = 7;
  ASSERT_TRUE(governed.call(asked));
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(canonical_json(to_json(requests[0])), canonical_json(parsed(kRequest)));
  EXPECT_EQ(canonical_json(preview()), canonical_json(parsed(kRequest).at("preview")));
}

// EV-85
TEST_F(AuthorizerTest, AToolThatNobodyClassifiedPreviewsAsTheMostCarefulOfAll) {
  call();
  EXPECT_EQ(canonical_json(preview()),
            R"({"approval_category":"Default","capabilities":[],"durability":"Persistent",)"
            R"("execution_category":"ExclusivePersistentMutation",)"
            R"("raw_input":{"path":"/tmp/x"},"side_effect_level":"External",)"
            R"("structured_input":{"path":"/tmp/x"},"working_directory":""})");
}

// EV-84
TEST_F(AuthorizerTest, EachEffectClassHasAPreviewOfItsOwn) {
  struct Wanted {
    const char* effect_class;
    const char* shape;  // capability, level, durability, execution, approval
  };
  for (const Wanted& wanted : {
           Wanted{"none", "ReadOnly None ReplaySafe ReadOnlyParallel ReadOnly"},
           Wanted{"fs.read", "FilesystemRead None ReplaySafe ReadOnlyParallel ReadOnly"},
           Wanted{"fs.write",
                  "FilesystemWrite LocalState Persistent ExclusiveLocalMutation Filesystem"},
           Wanted{"git.commit",
                  "FilesystemWrite LocalState Persistent ExclusiveLocalMutation Filesystem"},
           Wanted{"process.exec",
                  "ProcessExec Process Persistent ExclusivePersistentMutation Process"},
           Wanted{"background.start", "BackgroundExec Process Persistent BackgroundJob Background"},
           Wanted{"agent.delegate", "Delegation External Persistent Delegation Delegation"},
       }) {
    Governed classified;
    classified.plan.tool("", "read_file", {Tier::Confirm, wanted.effect_class});
    ASSERT_TRUE(classified.call(Governed::read_file()));
    const json::object shown =
        classified.recorder.of(Kind::Event).at(0).body.at("preview").as_object();
    ASSERT_EQ(shown.at("capabilities").as_array().size(), 1u);
    std::string shape(shown.at("capabilities").at(0).as_string());
    for (const char* const name :
         {"side_effect_level", "durability", "execution_category", "approval_category"}) {
      shape += " " + std::string(shown.at(name).as_string());
    }
    EXPECT_EQ(shape, wanted.shape) << wanted.effect_class;
  }
}

// EV-87
TEST_F(AuthorizerTest, TheHostDecidesAsOneMoreGuard) {
  Authorization answer;
  authorizer([&](const AuthorizationRequest&) { return answer; });
  EXPECT_TRUE(call().result.success);
  answer = {Authorization::Kind::Deny, "not on sundays"};
  EXPECT_EQ(call().outcome, Outcome::blocked("not on sundays"));
  answer = {Authorization::Kind::Deny, std::nullopt};
  EXPECT_EQ(call().outcome, Outcome::blocked("denied by host"));
  const json::value run = governed.recorder.records().back().body.at("guards").at(0);
  EXPECT_EQ(run.at("stage"), "authorizer");
  EXPECT_EQ(run.at("verdict"), "deny");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// EV-87
TEST_F(AuthorizerTest, TheHostCannotAllowWhatAnotherGuardDenies) {
  governed.plan.guard(std::make_shared<FunctionGuard>(
      "paths", [](const Call&) { return Verdict::deny("outside"); }));
  authorizer([](const AuthorizationRequest&) { return Authorization{}; });
  EXPECT_EQ(call().outcome, Outcome::blocked("outside"));
  EXPECT_TRUE(requests.empty());
}

// EV-87 (partly)
TEST_F(AuthorizerTest, AnAuthorizerThatErrsThrowsOrTakesTooLongDenies) {
  test::TestClock clock;
  governed.clock = &clock;
  int n = 0;
  authorizer([&](const AuthorizationRequest&) -> Result<Authorization> {
    switch (++n) {
      case 1:
        return fail(ErrorCode::Unavailable, "backend down");
      case 2:
        throw std::runtime_error("secret detail");
      default:
        clock.advance(std::chrono::milliseconds(2001));
        return Authorization{};
    }
  });
  for (int i = 0; i < 3; ++i) {
    const Answer answer = call();
    EXPECT_EQ(answer.outcome.kind, Outcome::Kind::Blocked);
    EXPECT_EQ(answer.result.output.find("secret detail"), std::string::npos);
  }
  EXPECT_EQ(n, 3);
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// EV-88
TEST_F(AuthorizerTest, WithoutAHostThePlanAloneDecides) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  const Result<Answer> answer = governed.call(Governed::read_file(), Caller{.holds = false});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::RequiresConfirmation);
  EXPECT_TRUE(governed.upstream->calls.empty());
}

}  // namespace
}  // namespace sallyport::core
