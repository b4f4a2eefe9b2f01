// The second door from the outside: a result as the agent and the record see it.
#include "core/call/governor.h"
#include "unit/core/post_invocation.h"

namespace sallyport::core {
namespace {

using test::FunctionGuard;
using test::Governed;
using Texts = std::vector<std::string>;

// Removes `hunter2` from texts.
class PasswordRedactor final : public Redactor {
 public:
  std::vector<Removal> redact(std::string_view, json::value& value) const override {
    if (!value.is_string()) return {};
    std::string text(value.get_string());
    const std::size_t at = text.find("hunter2");
    if (at == std::string::npos) return {};
    value = text.replace(at, 7, "[REDACTED:secret]");
    return {{.category = "secret", .removed = "hunter2"}};
  }
  bool redact_identifier(std::string&) const override { return false; }
};

class ReleasedResultTest : public PostInvocation {};

// PI-41 PI-45
TEST_F(ReleasedResultTest, AnAllowedResultIsReleasedAndRecordedAsItCame) {
  watch();
  const Answer answer = call();
  EXPECT_TRUE(answer.result.success);
  json::object shape = post();
  EXPECT_TRUE(shape.at("hooks").at(0).as_object().at("duration_us").is_number());
  shape.at("hooks").at(0).as_object().erase("duration_us");
  EXPECT_EQ(canonical_json(shape),
            R"({"escalation_ids":[],"escalations":[],"evidence":[],)"
            R"("hooks":[{"guard":"watch","state":"ran","verdict":"allow"}],)"
            R"("released":{"kind":"value","value":{"answer":42}},"sanitized":false,)"
            R"("verdict":"allow"})");
  EXPECT_EQ(record().outcome, "completed");
  EXPECT_EQ(exact("/post_invocation/released"), canonical_json(answer.released.to_json()));
  EXPECT_EQ(exact("/post_invocation/original"), "(absent)");
}

// PI-41 PI-44 PI-45 PI-48 (partly)
TEST_F(ReleasedResultTest, ARedactedResultIsAnOrdinarySuccessAndBothAreCommittedTo) {
  says("mask", Verdict::rewrite(Envelope::of({{"answer", "****"}}).to_json()));
  const Answer answer = call();
  EXPECT_TRUE(answer.result.success);
  EXPECT_EQ(answer.result.output, R"({"answer":"****"})");
  EXPECT_EQ(record().outcome, "completed");
  EXPECT_EQ(post().at("verdict"), "redact");
  EXPECT_EQ(post().at("sanitized"), true);
  EXPECT_EQ(exact("/post_invocation/released"), canonical_json(answer.released.to_json()));
  EXPECT_EQ(exact("/post_invocation/original"), R"({"kind":"value","value":{"answer":42}})");
  EXPECT_TRUE(withheld("/post_invocation/original"));
  EXPECT_FALSE(withheld("/post_invocation/released"));
}

// PI-41 PI-42 PI-43 PI-44 PI-45
TEST_F(ReleasedResultTest, AWithheldResultRanAndSaysWhoWithheldIt) {
  says("look", Verdict::allow());
  says("strict", Verdict::deny("holds a key"));
  const Answer answer = call();
  EXPECT_FALSE(answer.result.success);
  EXPECT_EQ(answer.result.output, "Result withheld by strict: holds a key");
  EXPECT_TRUE(answer.result.data.is_null());
  EXPECT_EQ(answer.outcome.kind, Outcome::Kind::Completed);
  EXPECT_EQ(answer.effect, EffectState::Done);
  EXPECT_EQ(record().outcome, "completed");
  EXPECT_EQ(record().body.at("effect_state"), "done");
  EXPECT_EQ(record().body.at("outcome").at("result").at("success"), false);
  EXPECT_EQ(post().at("verdict"), "block");
  EXPECT_EQ(post().at("guard"), "strict");
  EXPECT_EQ(post().at("sanitized"), false);
  EXPECT_EQ(exact("/post_invocation/released"), canonical_json(answer.released.to_json()));
  EXPECT_EQ(exact("/post_invocation/original"), R"({"kind":"value","value":{"answer":42}})");
  EXPECT_TRUE(withheld("/post_invocation/original"));
}

// PI-49
TEST_F(ReleasedResultTest, ABlockAfterAnEffectCallsNothingOff) {
  const auto tool = std::make_shared<test::FakePreparer>();
  governed.tool = tool;
  says("strict", Verdict::deny("holds a key"));
  const Answer answer = call();
  EXPECT_EQ(answer.effect, EffectState::Done);
  EXPECT_EQ(tool->calls.size(), 1u);
  EXPECT_TRUE(tool->cancelled.empty()) << "what has happened is not taken back";
  EXPECT_EQ(record().body.at("effect_state"), "done");
}

// PI-49 PI-50
TEST_F(ReleasedResultTest, AWithheldResultIsNotFetchedAgain) {
  says("strict", Verdict::deny("holds a key"));
  call();
  const Answer again = call();
  EXPECT_EQ(again.outcome.kind, Outcome::Kind::Cached);
  EXPECT_FALSE(again.result.success);
  EXPECT_EQ(again.result.output.find("42"), std::string::npos);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// PI-38 (partly)
TEST_F(ReleasedResultTest, AFailureIsRecordedLikeAnyOtherCallAndItsTextStaysInside) {
  result_guard("broken", [](const Envelope&, const ResultContext&) -> Result<Verdict> {
    throw std::runtime_error("secret detail");
  });
  const Answer answer = call();
  EXPECT_EQ(answer.result.output, "Result withheld by broken: guard broken failed: exception");
  EXPECT_EQ(canonical_json(post().at("failure")), R"({"class":"exception","guard":"broken"})");
  for (const Draft& draft : governed.recorder.written) {
    EXPECT_EQ(canonical_json(draft.body.members()).find("secret detail"), std::string::npos);
  }
  EXPECT_GT(answer.sequence, 0u);
}

// PI-39
TEST_F(ReleasedResultTest, AHookThatMayFailOpenBracketsTheStretchInTheRecord) {
  bool broken = true;
  result_guard("remote", [&](const Envelope&, const ResultContext&) -> Result<Verdict> {
    if (broken) return fail(ErrorCode::Unavailable, "down");
    return Verdict::allow();
  });
  governed.plan.fail_open("remote");
  EXPECT_TRUE(call().result.success);
  EXPECT_EQ(post().at("hooks").at(0).at("why"), "fail_open");
  broken = false;
  EXPECT_TRUE(call().result.success);
  Texts controls;
  for (const Draft& draft : governed.recorder.of(Kind::Control)) {
    controls.push_back(canonical_json(draft.body.members()));
  }
  EXPECT_EQ(controls,
            (Texts{R"({"cause":"exception","control":"fail_open_started","guard":"remote"})",
                   R"({"calls":1,"cause":"exception","control":"fail_open_ended",)"
                   R"("guard":"remote"})"}));
}

// PI-47 (partly)
TEST_F(ReleasedResultTest, RemovedBytesStandNowhereButUnderTheCommitmentToTheOriginal) {
  for (const bool block : {true, false}) {
    governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
    governed.recorder.written.clear();
    says("mask", block ? Verdict::deny("holds a password")
                       : Verdict::rewrite(Envelope::of("****").to_json()));
    gives(Envelope::of("hunter2"));
    Call asked = Governed::read_file();
    asked.session_id.clear();
    const Result<Answer> answer = governed.call(asked);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->result.output.find("hunter2"), std::string::npos);
    ASSERT_TRUE(withheld("/post_invocation/original"));
    for (Draft draft : governed.recorder.written) {
      if (json::value* const post = draft.body.open().if_contains("post_invocation")) {
        EXPECT_EQ(post->as_object().erase("original"), 1u);
      }
      EXPECT_EQ(canonical_json(draft.body.members()).find("hunter2"), std::string::npos);
    }
  }
}

// PI-16
TEST_F(ReleasedResultTest, EvidenceBeforeAndAfterTheCallStandApartAndInOrder) {
  const auto with_evidence = [](std::string_view text) {
    Verdict verdict = Verdict::allow();
    verdict.evidence = json::value(text);
    return verdict;
  };
  for (const char* const name : {"g1", "g2"}) {
    governed.plan.guard(std::make_shared<FunctionGuard>(
        name, [=](const Call&) { return with_evidence(std::string("of ") + name); }));
  }
  says("h1", with_evidence("of h1"));
  says("h2", with_evidence("of h2"));
  call();
  const json::array guards = record().body.at("guards").as_array();
  ASSERT_EQ(guards.size(), 2u);
  EXPECT_EQ(guards[0].at("evidence"), "of g1");
  EXPECT_EQ(guards[1].at("evidence"), "of g2");
  EXPECT_EQ(canonical_json(post().at("evidence")),
            R"([{"details":"of h1","guard_name":"h1","verdict":true},)"
            R"({"details":"of h2","guard_name":"h2","verdict":true}])");
}

// PI-85
TEST_F(ReleasedResultTest, AnAnswerThatIsNotStrictJsonIsAnErrorAndItsBytesAreCommittedTo) {
  for (const std::string& bytes :
       {std::string("not json"), std::string(R"({"a":1,"a":2})"), std::string("\"\xff\""),
        std::string(R"("\ud800")"), std::string(R"({"a":1}x)"), std::string(100, ' ') + "1"}) {
    governed.restart(PlanBuilder().autonomy(Autonomy::ActAuto));
    governed.recorder.written.clear();
    seen.clear();
    watch();
    gives(Envelope::from_upstream(bytes, 64));
    Call asked = Governed::read_file();
    asked.session_id.clear();
    const Result<Answer> answer = governed.call(asked);
    ASSERT_TRUE(answer) << bytes;
    EXPECT_FALSE(answer->result.success);
    EXPECT_EQ(answer->result.output, "upstream sent malformed output");
    EXPECT_EQ(seen,
              Texts{R"({"error":{"message":"upstream sent malformed output"},"kind":"error"})"});
    EXPECT_EQ(exact("/post_invocation/original"), bytes);
    EXPECT_TRUE(withheld("/post_invocation/original"));
  }
}

// PI-85
TEST_F(ReleasedResultTest, AValueThatNoJsonTextCouldHoldIsMalformedOutput) {
  gives(Envelope::of({{"a", "\xff"}}));
  const Answer answer = call();
  EXPECT_EQ(answer.result.output, "upstream sent malformed output");
  EXPECT_NE(exact("/post_invocation/original").find('\xff'), std::string::npos);
}

// PI-88 (partly)
TEST_F(ReleasedResultTest, AReasonIsRedactedAndStrippedBeforeTheAgentSeesIt) {
  const PasswordRedactor redactor;
  governed.redactor = &redactor;
  says("strict", Verdict::deny("\x1b[31mholds hunter2\x07\x7f"));
  const Answer answer = call();
  EXPECT_EQ(answer.result.output, "Result withheld by strict: [31mholds [REDACTED:secret]");
  EXPECT_EQ(answer.released.message, answer.result.output);
}

}  // namespace
}  // namespace sallyport::core
