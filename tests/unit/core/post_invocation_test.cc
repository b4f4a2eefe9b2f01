// The second door from the outside: the paths that pass it.
#include "unit/core/post_invocation.h"

#include <gtest/gtest.h>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>

#include "core/call/governor.h"
#include "support/pause.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FakeUpstream;
using test::FunctionGuard;
using test::FunctionResultGuard;
using test::Governed;
using Texts = std::vector<std::string>;

class ApprovingPerson final : public Approver {
 public:
  Task<Reply> answer(Question) const override { co_return Reply::approve("user:ada"); }
};

class PostInvocationTest : public PostInvocation {};

// PI-28 (partly)
TEST_F(PostInvocationTest, AValueAStreamAndAToolsErrorPassTheDoor) {
  const Envelope envelopes[] = {
      Envelope::of({{"a", 1}}),
      {.kind = Envelope::Kind::Stream, .chunks = {"a", "b"}},
      {.kind = Envelope::Kind::Stream, .chunks = {"a"}, .complete = false, .reason = "cut"},
      Envelope::error("no such file", -32000)};
  for (const Envelope& envelope : envelopes) {
    governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
    governed.recorder.written.clear();
    seen.clear();
    watch();
    gives(envelope);
    Call asked = Governed::read_file();
    asked.session_id.clear();
    const Result<Answer> answer = governed.call(asked);
    ASSERT_TRUE(answer);
    EXPECT_EQ(seen, Texts{canonical_json(envelope.to_json())});
    EXPECT_EQ(canonical_json(answer->released.to_json()), seen[0]);
    EXPECT_EQ(contexts.back().is_error, envelope.kind == Envelope::Kind::Error);
  }
}

// PI-28 (partly)
TEST_F(PostInvocationTest, AFaultOfTheWayAThrowAndATimeOutPassTheDoorAsErrors) {
  governed.plan.time_limit(std::chrono::milliseconds(20));
  says("closed", Verdict::deny("closed"));
  int n = 0;
  does([&](Call, std::shared_ptr<Delivery>, std::stop_token) -> Task<Envelope> {
    ++n;
    if (n == 1) co_return fail(ErrorCode::Unavailable, "secret host");
    if (n == 2) throw std::runtime_error("secret text");
    co_await test::pause(std::chrono::hours(1));
    co_return Envelope::of("late");
  });
  for (int i = 0; i < 3; ++i) {
    Call asked = Governed::read_file();
    asked.session_id.clear();
    const Result<Answer> answer = governed.call(asked);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->result.output, "Result withheld by closed: closed");
    EXPECT_EQ(post().at("verdict"), "block");
  }
  EXPECT_EQ(n, 3);
}

// PI-28 (partly)
TEST_F(PostInvocationTest, TheTextOfATimeOutIsWhatTheHooksSee) {
  governed.plan.time_limit(std::chrono::milliseconds(20));
  watch();
  does([](Call, std::shared_ptr<Delivery>, std::stop_token) -> Task<Envelope> {
    co_await test::pause(std::chrono::hours(1));
    co_return fail(ErrorCode::Cancelled, "told to stop");
  });
  call();
  EXPECT_EQ(seen, Texts{R"({"error":{"message":"timed out after 20 ms"},"kind":"error"})"});
}

// PI-28 (partly)
TEST_F(PostInvocationTest, ACallThatWasApprovedWhileHeldOrLaterPassesTheDoor) {
  governed.plan.autonomy(Autonomy::ActWithApproval);
  says("closed", Verdict::deny("closed"));
  const Answer asked = call({.holds = false});
  ASSERT_EQ(asked.outcome.kind, Outcome::Kind::RequiresConfirmation);
  Governor& governor = governed.governor();
  ASSERT_TRUE(
      test::run_now(governor.approvals().answer(asked.approval_id, Reply::approve("user:ada"))));
  Call again = Governed::read_file();
  again.call_id = asked.call_id;
  const Result<Answer> resumed = test::run_now(
      governor.resume({.call = again, .approval_id = asked.approval_id}, governed.upstream));
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->result.output, "Result withheld by closed: closed");

  Governed held;
  held.plan.autonomy(Autonomy::ActWithApproval);
  held.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "closed", [](const Envelope&, const ResultContext&) { return Verdict::deny("closed"); }));
  held.approver = std::make_shared<ApprovingPerson>();
  EXPECT_EQ(held.call(Governed::read_file())->result.output, "Result withheld by closed: closed");
}

// PI-30 PI-50 PI-28 (partly)
TEST_F(PostInvocationTest, ACachedResultPassesTheDoorOfThePlanOfNowFromWhatWasReleased) {
  says("mask", Verdict::rewrite(Envelope::of({{"a", "****"}}).to_json()));
  gives(Envelope::of({{"a", "hunter2"}}));
  EXPECT_EQ(call().result.output, R"({"a":"****"})");
  EXPECT_EQ(canonical_json(record().body.at("outcome")).find("hunter2"), std::string::npos);

  governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
  watch();
  const Answer cached = call();
  EXPECT_EQ(cached.outcome.kind, Outcome::Kind::Cached);
  EXPECT_EQ(seen, Texts{R"({"kind":"value","value":{"a":"****"}})"});
  EXPECT_EQ(cached.result.output, R"({"a":"****"})");

  governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
  says("closed", Verdict::deny("closed"));
  const Answer withheld_now = call();
  EXPECT_EQ(withheld_now.result.output, "Result withheld by closed: closed");
  EXPECT_FALSE(withheld_now.result.success);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// PI-25 PI-28 (partly)
TEST_F(PostInvocationTest, NothingOfAStreamIsHandedOnBeforeTheDoorHasSeenAllOfIt) {
  Texts forwarded;
  std::size_t forwarded_at_the_door = 99;
  result_guard("watch", [&](const Envelope& envelope, const ResultContext&) {
    seen.push_back(canonical_json(envelope.to_json()));
    forwarded_at_the_door = forwarded.size();
    return Verdict::allow();
  });
  does([](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
    EXPECT_TRUE(delivery->add("one "));
    EXPECT_TRUE(delivery->add("two"));
    co_return delivery->finish();
  });
  const Answer answer =
      call({.progress = [&](const json::value& m) { forwarded.push_back(canonical_json(m)); }});
  EXPECT_EQ(seen, Texts{R"({"kind":"stream","stream":{"chunks":["one ","two"],"complete":true}})"});
  EXPECT_EQ(forwarded_at_the_door, 0u);
  EXPECT_TRUE(forwarded.empty());
  EXPECT_EQ(answer.result.output, "one two");
}

// PI-26
TEST_F(PostInvocationTest, AStreamOverALimitIsCutBeforeTheHooksSeeIt) {
  test::TestClock clock;
  governed.clock = &clock;
  governed.plan.stream_limits({.bytes = 8, .chunks = 3, .time = std::chrono::seconds(1)});
  watch();
  int n = 0;
  does([&](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
    ++n;
    if (n == 1) {
      EXPECT_TRUE(delivery->add("12345678"));
      EXPECT_FALSE(delivery->add("9"));
    } else if (n == 2) {
      for (const char* const chunk : {"a", "b", "c"}) EXPECT_TRUE(delivery->add(chunk));
      EXPECT_FALSE(delivery->add("d"));
    } else {
      EXPECT_TRUE(delivery->add("a"));
      clock.advance(std::chrono::milliseconds(1001));
      EXPECT_FALSE(delivery->add("b"));
    }
    co_return delivery->finish();
  });
  for (int i = 0; i < 3; ++i) {
    Call asked = Governed::read_file();
    asked.session_id.clear();
    const Result<Answer> answer = governed.call(asked);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->result.success);
  }
  const std::string open = R"({"kind":"stream","stream":{"chunks":)";
  EXPECT_EQ(seen, (Texts{open + R"(["12345678"],"complete":false,"reason":"too many bytes"}})",
                         open + R"(["a","b","c"],"complete":false,"reason":"too many chunks"}})",
                         open + R"(["a"],"complete":false,"reason":"took too long"}})"}));
}

// PI-23 PI-28 (partly)
TEST_F(PostInvocationTest, AStreamThatBreaksOffPassesTheDoorAsIncomplete) {
  watch();
  does([](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
    EXPECT_TRUE(delivery->add("half"));
    co_return fail(ErrorCode::Unavailable, "reset");
  });
  const Answer answer = call();
  EXPECT_EQ(seen, Texts{R"({"kind":"stream","stream":{"chunks":["half"],"complete":false,)"
                        R"("reason":"the tool gave no answer and may have acted: reset"}})"});
  EXPECT_FALSE(answer.result.success);
}

// PI-29
TEST_F(PostInvocationTest, EachMessageOnTheWayPassesTheDoorByItself) {
  result_guard("gate", [this](const Envelope& envelope, const ResultContext& context) {
    seen.push_back(canonical_json(envelope.to_json()));
    EXPECT_EQ(context.tool, "read_file");
    const std::string text = canonical_json(envelope.value);
    if (text.find("bad") != std::string::npos) return Verdict::deny("bad");
    if (text.find("secret") != std::string::npos) {
      return Verdict::rewrite(Envelope::of("****").to_json());
    }
    return Verdict::allow();
  });
  does([](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
    for (const char* const message : {"10 %", "bad", "secret", "90 %"}) {
      co_await delivery->progress(message);
    }
    co_return Envelope::of("done");
  });
  Texts forwarded;
  const Answer answer =
      call({.progress = [&](const json::value& m) { forwarded.push_back(canonical_json(m)); }});
  EXPECT_EQ(forwarded, (Texts{R"("10 %")", R"("****")", R"("90 %")"}));
  EXPECT_EQ(answer.result.output, "done");
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen[1], R"({"kind":"value","value":"bad"})");
}

// A server that floods with messages that a check notes filled the memory and the ledger.
// PI-29 GR-84 (partly)
TEST_F(PostInvocationTest, MessagesWhoseFindingsHaveNoRoomAreDropped) {
  result_guard("words", [](const Envelope& envelope, const ResultContext&) {
    Verdict verdict = Verdict::allow();
    if (envelope.value != json::value("plain")) verdict.findings = {{.body = {{"check", "a"}}}};
    return verdict;
  });
  does([](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
    for (int i = 0; i < 1500; ++i) co_await delivery->progress("noted");
    co_await delivery->progress("plain");
    co_return Envelope::of("plain");
  });
  Texts forwarded;
  const Answer answer =
      call({.progress = [&](const json::value& m) { forwarded.push_back(canonical_json(m)); }});
  EXPECT_EQ(answer.result.output, "plain");
  EXPECT_EQ(forwarded.size(), 1025u);
  EXPECT_EQ(forwarded.back(), R"("plain")");
  EXPECT_EQ(governed.recorder.of(Kind::GuardHit).size(), 1024u);
}

// PI-29
TEST_F(PostInvocationTest, AMessageAfterTheEndOfACallIsNotForwarded) {
  std::shared_ptr<Delivery> kept;
  does([&](Call, std::shared_ptr<Delivery> delivery, std::stop_token) -> Task<Envelope> {
    kept = delivery;
    co_return Envelope::of("done");
  });
  int forwarded = 0;
  call({.progress = [&](const json::value&) { ++forwarded; }});
  test::run_now([](std::shared_ptr<Delivery> delivery) -> Async<int> {
    co_await delivery->progress("late");
    co_return 0;
  }(kept));
  EXPECT_EQ(forwarded, 0);
  EXPECT_FALSE(kept->add("late"));
}

// PI-18 PI-19
TEST_F(PostInvocationTest, AHookSeesTheCallWithItsFinalInputAndWhatIsKnownAboutIt) {
  governed.plan.tool("files", "read_file", {Tier::Observe, "fs.read"})
      .guard(std::make_shared<FunctionGuard>(
          "rewrite", [](const Call&) { return Verdict::rewrite({{"path", "/b"}}); }));
  watch();
  Call asked = Governed::read_file();
  asked.server = "files";
  const Result<Answer> answer = governed.call(asked);
  ASSERT_TRUE(answer);
  ASSERT_EQ(contexts.size(), 1u);
  const ResultContext& context = contexts[0];
  EXPECT_EQ(context.tool, "read_file");
  ASSERT_TRUE(context.call);
  EXPECT_EQ(canonical_json(context.call->input), R"({"path":"/b"})");
  EXPECT_EQ(context.call->agent_id, "agent:a");
  EXPECT_EQ(context.call->server, "files");
  EXPECT_EQ(context.call->session_id, "s-1");
  EXPECT_EQ(context.call->call_id, answer->call_id);
  EXPECT_EQ(context.effect_class, "fs.read");
  EXPECT_EQ(context.policy_hash, record().subject->policy_hash);
  EXPECT_FALSE(context.is_error);
  ASSERT_TRUE(context.scope);
  EXPECT_TRUE(context.scope->grants.empty());
  EXPECT_FALSE(context.matched_grant_index);
}

// A tool that continues after a stop request, and answers in the end.
FakeUpstream::Answer stubborn(std::chrono::milliseconds time, Result<Envelope> answer) {
  return [=](Call, std::shared_ptr<Delivery>, std::stop_token) -> Task<Envelope> {
    co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
    co_await test::pause(time);
    co_return answer;
  };
}

// PI-31
TEST_F(PostInvocationTest, AResultAfterTheDeadlineIsLookedAtForTheRecordAndNotReleased) {
  governed.plan.time_limit(std::chrono::milliseconds(20));
  result_guard("mask", [this](const Envelope& envelope, const ResultContext& context) {
    seen.push_back(canonical_json(envelope.to_json()));
    if (context.is_error) return Verdict::allow();
    return Verdict::rewrite(Envelope::of("****").to_json());
  });
  does(stubborn(std::chrono::milliseconds(60), Envelope::of("hunter2")));
  const Answer answer = call();
  EXPECT_EQ(answer.result.output, "timed out after 20 ms");
  EXPECT_EQ(answer.effect, EffectState::Unknown);
  EXPECT_EQ(seen, (Texts{R"({"error":{"message":"timed out after 20 ms"},"kind":"error"})",
                         R"({"kind":"value","value":"hunter2"})"}));
  ASSERT_EQ(governed.recorder.records().size(), 1u) << "one terminal record, and it is the last";
  const auto late = governed.recorder.of(Kind::Topic);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].topic, "late_results");
  EXPECT_EQ(late[0].subject, record().subject);
  EXPECT_EQ(late[0].body.at("record"), "late_result");
  EXPECT_EQ(late[0].body.at("tool_call_id"), "toolu_1");
  EXPECT_GE(late[0].body.at("duration_ms").to_number<int>(), 60);
  EXPECT_EQ(late[0].body.at("post_invocation").at("verdict"), "redact");
  EXPECT_EQ(late[0].body.at("post_invocation").at("released").at("value"), "****");
  ASSERT_EQ(late[0].exact.size(), 2u);
  EXPECT_EQ(late[0].exact[1].path, "/post_invocation/original");
  EXPECT_TRUE(late[0].exact[1].withheld);
  // It is not replayed either: the end of the call is unknown.
  EXPECT_TRUE(call().outcome.text.starts_with("unknown outcome:"));
}

// PI-31
TEST_F(PostInvocationTest, AResultAfterACancelMayEscalateAndWhatNeverComesLeavesNothing) {
  says("look", Verdict::escalate("late"));
  for (const Result<Envelope>& given :
       {Result<Envelope>(Envelope::of("late")),
        Result<Envelope>(fail(ErrorCode::Unavailable, "connection lost"))}) {
    governed.restart();
    governed.recorder.written.clear();
    std::stop_source stop;
    does([&, answer = stubborn(std::chrono::milliseconds(20), given)](
             Call call, std::shared_ptr<Delivery> delivery,
             std::stop_token token) -> Task<Envelope> {
      stop.request_stop();
      co_return co_await answer(std::move(call), std::move(delivery), token);
    });
    Call asked = Governed::read_file();
    asked.session_id.clear();
    const Result<Answer> answer = governed.call(asked, stop.get_token());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->result.output, "cancelled");
    std::size_t late = 0;
    for (const Draft& draft : governed.recorder.of(Kind::Topic)) {
      if (draft.topic == "late_results") ++late;
    }
    EXPECT_EQ(late, given ? 1u : 0u);
  }
}

// PI-31
TEST_F(PostInvocationTest, ALateResultThatCannotBeWrittenIsOwed) {
  governed.plan.time_limit(std::chrono::milliseconds(20));
  does(stubborn(std::chrono::milliseconds(60), Envelope::of("late")));
  governed.recorder.refuse = [](const std::vector<Draft>& drafts) -> std::optional<Error> {
    if (drafts.back().topic != "late_results") return std::nullopt;
    return Error{ErrorCode::Unavailable, "disk full"};
  };
  call();
  ASSERT_EQ(governed.recorder.owed.size(), 1u);
  EXPECT_EQ(governed.recorder.owed[0].topic, "late_results");
}

// PI-21 (partly)
TEST_F(PostInvocationTest, AHookThatLacksAFieldBlocksWithItsName) {
  result_guard("rows", [](const Envelope&, const ResultContext& context) {
    return context.matched_grant_index ? Verdict::allow()
                                       : Verdict::deny("needs `matched_grant_index`");
  });
  EXPECT_EQ(call().result.output, "Result withheld by rows: needs `matched_grant_index`");
}

}  // namespace
}  // namespace sallyport::core
