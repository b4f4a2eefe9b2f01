#include "grants/grant_guard.h"

#include <gtest/gtest.h>

#include "core/handoff/hand_offs.h"
#include "core/plan/grant_carrier.h"
#include "governed_grants.h"

namespace sallyport::grants {
namespace {

using namespace test;

class GrantGuardTest : public GovernedGrants {};

// CG-14
TEST_F(GrantGuardTest, WhereAGrantIsRequiredACallWithoutOneIsDenied) {
  settings.required = {{"fs", "*"}, {"*", "deploy"}};
  Call call = call_with(token_with({grant()}));
  call.grants.clear();
  EXPECT_EQ(outcome(call), "grant_missing");
  EXPECT_TRUE(governed.upstream->calls.empty());
  call.server = "git";
  EXPECT_EQ(outcome(call), "completed");
  EXPECT_EQ(last("/matched_grant_index"), "null");
  call.tool = "deploy";
  EXPECT_EQ(outcome(call), "grant_missing");
}

// CG-13 CG-14 CG-17 CG-18 CG-20
TEST_F(GrantGuardTest, EachFailureHasItsCodeAndTheFirstOneCounts) {
  const json::object good = token_with({limited_to("path_prefix", "/srv/app")});
  EXPECT_EQ(outcome(good), "completed");
  Call call = call_with(good);
  call.input = {{"path", "/etc"}};
  EXPECT_EQ(outcome(call), "grant_scope");
  call.agent_id = "agent:b";
  EXPECT_EQ(outcome(call), "grant_subject");
  json::object child = child_of(good, {with(grant(), "from", 0)});
  call.grants = {text_of(child)};
  EXPECT_EQ(outcome(call), "grant_delegation");
  revoke(good.at("id").as_string());
  EXPECT_EQ(outcome(call), "grant_revoked");
  clock.step_wall(std::chrono::hours(2));
  EXPECT_EQ(outcome(call), "grant_expired");
  clock.step_wall(-std::chrono::hours(4));
  EXPECT_EQ(outcome(call), "grant_not_yet_valid");
  child["expires_at"] = 1794704399;
  call.grants = {text_of(child)};
  EXPECT_EQ(outcome(call), "grant_signature");
  sign(child["chain"].as_array()[0].as_object(), key_c());
  call.grants = {text_of(child)};
  EXPECT_EQ(outcome(call), "grant_untrusted_issuer");
  child["x"] = 1;
  call.grants = {text_of(child)};
  EXPECT_EQ(outcome(call), "grant_malformed");
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
}

// CG-11 CG-15 AU-15
TEST_F(GrantGuardTest, ADenialIsARecordWithTheCodeTheTokenAndTheCheck) {
  const json::object token = token_with({grant("git", "*")});
  EXPECT_EQ(outcome(token), "grant_scope");
  ASSERT_EQ(governed.recorder.records().size(), 1u);
  EXPECT_EQ(governed.recorder.records().back().outcome, "blocked");
  EXPECT_EQ(last("/guards/0/guard"), "grants");
  EXPECT_EQ(last("/guards/0/stage"), "grant");
  EXPECT_EQ(last("/guards/0/verdict"), "deny");
  EXPECT_EQ(last("/guards/0/rule"), "grant_scope");
  EXPECT_EQ(last("/guards/0/evidence/check"), "scope");
  EXPECT_EQ(last("/guards/0/evidence/code"), "grant_scope");
  EXPECT_EQ(last("/guards/0/evidence/grant_id"), token.at("id").as_string());
  EXPECT_EQ(last("/guards/0/evidence/grant_digest"), digest_of(token));
  EXPECT_EQ(last("/guards/0/evidence/issuer"), kKeyA);
  EXPECT_EQ(last("/guards/0/evidence/passed_over/0/why"), "server");
}

// CG-11 CG-36 AU-15
TEST_F(GrantGuardTest, EveryRecordNamesTheMatchedGrantAndNoneHoldsTheSignature) {
  const json::object token = token_with({grant("git", "*"), grant("*", "*"), grant("fs", "*")});
  governed.plan.durability(core::IntentDurability::Strict);
  EXPECT_EQ(outcome(token), "completed");
  for (const core::Draft& draft : governed.recorder.written) {
    const std::string text = json::serialize(draft.body.members());
    EXPECT_EQ(text.find(token.at("signature").as_string()), std::string::npos);
    if (draft.kind != core::Kind::Intent && draft.kind != core::Kind::ToolAudit) continue;
    EXPECT_EQ(text_at(draft, "/matched_grant_index"), "2");
    EXPECT_EQ(text_at(draft, "/guards/0/evidence/matched_grant_index"), "2");
    EXPECT_EQ(text_at(draft, "/guards/0/evidence/grant_digest"), digest_of(token));
    EXPECT_EQ(text_at(draft, "/guards/0/evidence/grant_id"), token.at("id").as_string());
    EXPECT_EQ(text_at(draft, "/guards/0/evidence/issuer"), kKeyA);
  }
}

// CG-36 PI-18 PI-19
TEST_F(GrantGuardTest, TheGrantIsFixedBeforeOtherGuardsAndSeenByResultGuards) {
  std::vector<std::string> order;
  governed.plan.guard(std::make_shared<FunctionGuard>("other", [&](const Call&) {
    order.push_back("other");
    return Verdict::allow();
  }));
  ResultContext seen;
  governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "looks", [&](const Envelope&, const ResultContext& context) {
        seen = context;
        return Verdict::allow();
      }));
  EXPECT_EQ(outcome(token_with({grant("git", "*"), grant()})), "completed");
  EXPECT_EQ(seen.matched_grant_index, 1u);
  ASSERT_TRUE(seen.scope);
  ASSERT_EQ(seen.scope->grants.size(), 2u);
  EXPECT_EQ(seen.scope->grants[0].server, "git");
  EXPECT_EQ(seen.scope->grants[1].server, "*");
  EXPECT_EQ(seen.tool, "read_file");
  ASSERT_TRUE(seen.call);
  EXPECT_EQ(seen.call->agent_id, "agent:a");
  EXPECT_EQ(seen.call->server, "fs");
  EXPECT_EQ(seen.call->session_id, "s-1");
  EXPECT_EQ(seen.policy_hash, governed.recorder.records().back().subject->policy_hash);
  EXPECT_EQ(last("/guards/0/guard"), "grants");
  EXPECT_EQ(last("/guards/1/guard"), "other");
}

// CG-10 CG-11
TEST_F(GrantGuardTest, NobodyElseSeesTheToken) {
  std::size_t seen = 0;
  governed.plan.guard(std::make_shared<FunctionGuard>("other", [&](const Call& call) {
    seen += call.grants.size();
    return Verdict::allow();
  }));
  governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
      "looks", [&](const Envelope&, const ResultContext& context) {
        seen += context.call->grants.size();
        return Verdict::allow();
      }));
  EXPECT_EQ(outcome(token_with({grant()})), "completed");
  EXPECT_EQ(seen, 0u);
  ASSERT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_TRUE(governed.upstream->calls[0].grants.empty());
}

// CG-10
TEST_F(GrantGuardTest, ATokenComesInMetaOrInAHeaderAndIsTakenOut) {
  const json::object token = token_with({grant()});
  Call call = call_with(token);
  call.grants.clear();
  json::object params{{"name", "read_file"},
                      {"_meta", {{"sallyport/grant", token}, {"progressToken", 1}}}};
  core::take_grant(params, call);
  EXPECT_EQ(json::serialize(params), R"({"name":"read_file","_meta":{"progressToken":1}})");
  EXPECT_EQ(outcome(call), "completed");

  params = {{"_meta", {{"sallyport/grant", token}}}};
  call.grants.clear();
  core::take_grant(params, call);
  EXPECT_TRUE(params.empty());

  std::string header = base64(as_bytes(text_of(token)));
  for (char& c : header) c = c == '+' ? '-' : c == '/' ? '_' : c;
  for (const std::string& value : {header, header.substr(0, header.find('='))}) {
    call.grants.clear();
    core::take_grant_header(value, call);
    EXPECT_EQ(outcome(call), "completed");
  }
}

// CG-67
TEST_F(GrantGuardTest, AHeaderInANonCanonicalFormIsMalformed) {
  const std::string header = base64(as_bytes(text_of(token_with({grant()}))));
  for (const std::string& value :
       {header + "==", " " + header, header.substr(1), std::string("+/")}) {
    Call call = call_with(token_with({grant()}));
    call.grants.clear();
    core::take_grant_header(value, call);
    EXPECT_EQ(outcome(call), "grant_malformed") << value;
  }
}

// CG-12
TEST_F(GrantGuardTest, TwoTokensMakeTheCallMalformed) {
  Call call = call_with(token_with({grant()}));
  call.grants.push_back(call.grants.front());
  EXPECT_EQ(outcome(call), "grant_malformed");
}

// CG-20
TEST_F(GrantGuardTest, APrincipalInTheInputDoesNotCount) {
  Call call = call_with(token_with({grant()}), {{"principal", "agent:a"}, {"agent_id", "agent:a"}});
  call.agent_id = "agent:b";
  EXPECT_EQ(outcome(call), "grant_subject");
}

// CG-39
TEST_F(GrantGuardTest, WhatARewriteLeftIsWhatIsMatched) {
  governed.plan.guard(std::make_shared<FunctionGuard>("moves", [](const Call& call) {
    const std::string path(call.input.at("path").as_string());
    if (path == "/srv/app/x") return Verdict::rewrite({{"path", "/etc/x"}});
    if (path == "/etc/y") return Verdict::rewrite({{"path", "/srv/app/y"}});
    return Verdict::allow();
  }));
  const json::object token =
      token_with({limited_to("path_prefix", "/srv/app"), limited_to("path_prefix", "/srv")});
  EXPECT_EQ(outcome(call_with(token, {{"path", "/srv/app/x"}})), "grant_scope");
  // The deciding guard first sees the original request, and that is not granted.
  EXPECT_EQ(outcome(call_with(token, {{"path", "/etc/y"}})), "grant_scope");
  EXPECT_EQ(outcome(call_with(token, {{"path", "/srv/app/z"}})), "completed");
}

// CG-39
TEST_F(GrantGuardTest, ARewritingHookRunsBeforeTheMatch) {
  auto moves = std::make_shared<FunctionGuard>(
      "moves", [](const Call&) { return Verdict::rewrite({{"path", "/srv/app/y"}}); });
  moves->mutable_traits().rewrites = true;
  governed.plan.guard(moves);
  EXPECT_EQ(
      outcome(call_with(token_with({limited_to("path_prefix", "/srv/app")}), {{"path", "/etc/y"}})),
      "completed");
  EXPECT_EQ(last("/matched_grant_index"), "0");
}

// CG-38
TEST_F(GrantGuardTest, EvidenceNamesTheConstraintThatNobodyKnows) {
  EXPECT_EQ(outcome(token_with({limited_to("moon_phase", "full"), grant()})), "completed");
  EXPECT_EQ(last("/guards/0/evidence/passed_over/0/grant"), "0");
  EXPECT_EQ(last("/guards/0/evidence/passed_over/0/why"), "moon_phase: unknown constraint");
  EXPECT_EQ(last("/matched_grant_index"), "1");
}

// CG-47
TEST_F(GrantGuardTest, WithoutReadResultTheAgentGetsTheNoticeAlone) {
  const json::object token = token_with({with(grant(), "operations", json::array{"invoke"})});
  const Result<Answer> answer = run(call_with(token));
  ASSERT_TRUE(answer);
  EXPECT_EQ(governed.upstream->calls.size(), 1u);
  EXPECT_EQ(answer->result.output, "[result withheld by grant]");
  EXPECT_EQ(answer->released.value, json::value("[result withheld by grant]"));
  EXPECT_EQ(last("/post_invocation/verdict"), "redact");
  EXPECT_NE(last("/post_invocation/original"), "(absent)");
  EXPECT_EQ(last("/outcome/result/output"), "[result withheld by grant]");
}

// CG-47
TEST_F(GrantGuardTest, AnAnswerOfMcpAndAnErrorKeepTheirKind) {
  const auto judged = [](const Envelope& envelope) {
    auto scope = std::make_shared<Scope>();
    scope->grants.push_back({.reads_result = false});
    const ResultContext context{.scope = scope, .matched_grant_index = 0};
    return json::serialize(run_now(GrantResultGuard().judge(envelope, context))->value);
  };
  const std::string notice =
      R"({"kind":"value","value":{"content":[{"type":"text","text":"[result withheld by grant]"}])";
  EXPECT_EQ(judged(Envelope::of({{"content", json::array()}, {"_meta", 1}})), notice + "}}");
  // The official client throws if a tool with an output schema gives neither.
  for (const char* const result :
       {R"({"content":[],"structuredContent":{"a":1}})", R"({"content":[],"isError":true})"}) {
    EXPECT_EQ(judged(Envelope::of(json::parse(result))), notice + R"(,"isError":true}})");
  }
  EXPECT_NE(judged(Envelope::error("secret", 5)).find("withheld by grant"), std::string::npos);
  EXPECT_EQ(judged(Envelope::error("secret", 5)).find("secret"), std::string::npos);
  const ResultContext outside{.scope = std::make_shared<Scope>(), .matched_grant_index = 3};
  EXPECT_FALSE(run_now(GrantResultGuard().judge(Envelope::of(1), outside)));
}

// CG-36 CG-47: also for a call that another program executes.
TEST_F(GrantGuardTest, AResultThatComesBackLaterIsHeldAgainstTheGrant) {
  build();
  SystemEntropy entropy;
  core::Continuations continuations(governed.recorder, governed.recorder, KeyedDigest("k"), clock,
                                    entropy);
  core::HandOffs hand_offs(governed.governor(), continuations);
  Call call = call_with(
      token_with({grant("git", "*"), with(grant("fs", "*"), "operations", json::array{"invoke"})}));
  call.tool_call_id = "toolu_1";
  const auto given = run_now(hand_offs.hand_out({.session_id = "s-1"}, {call}));
  ASSERT_TRUE(given) << given.error().message;
  ASSERT_EQ(given->hand_off.tool_calls.size(), 1u);
  const Submission submission{
      .continuation = given->hand_off.continuation,
      .results = {{.tool_call_id = "toolu_1", .result = {.success = true, .output = "secret"}}}};
  const auto answers = run_now(hand_offs.submit(submission, "s-1"));
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->front().result.output, "[result withheld by grant]");
  EXPECT_EQ(last("/matched_grant_index"), "1");
}

// CG-65
TEST_F(GrantGuardTest, WhatIsKeptIsNeitherTimeNorRevocationNorBudgetNorTrust) {
  const json::object token = token_with({with(grant(), "max_invocations", 1)});
  EXPECT_EQ(outcome(token), "completed");
  EXPECT_EQ(outcome(token), "grant_budget");
  revoke(token.at("id").as_string());
  EXPECT_EQ(outcome(token), "grant_revoked");
  clock.step_wall(std::chrono::hours(2));
  EXPECT_EQ(outcome(token), "grant_expired");
  // The same leaf with another chain is another text, and is checked again.
  json::object child = child_of(token_with({grant()}, 1), {with(grant(), "from", 0)});
  clock.step_wall(-std::chrono::hours(2));
  EXPECT_EQ(outcome(child), "completed");
  child["chain"].as_array()[0] = token_with({grant()}, 2);
  EXPECT_EQ(outcome(child), "grant_delegation");
}

// CG-65: a link that was found good proves nothing about other links.
TEST_F(GrantGuardTest, ALinkThatIsKnownVouchesForNoOther) {
  const json::object root = token_with({grant()}, 1);
  const json::object child = child_of(root, {with(grant(), "from", 0)});
  EXPECT_EQ(outcome(child), "completed");
  json::object sibling = child;
  sibling["id"] = "01966f4c-4000-7000-8000-0000000000ff";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome(sibling), "grant_signature") << "with the signature of another";
  }
  json::object forged = child;
  json::object& forged_root = forged["chain"].as_array()[0].as_object();
  forged_root["expires_at"] = forged_root.at("expires_at").to_number<std::uint64_t>() + 1;
  EXPECT_EQ(outcome(forged), "grant_signature")
      << "an ancestor that was good before it was changed";
  EXPECT_EQ(outcome(child), "completed");
}

// CG-68
TEST_F(GrantGuardTest, FailuresOfAPrincipalAreLimited) {
  settings.failures = {.most = 3, .per = std::chrono::seconds(60)};
  const json::object known = token_with({grant()}, 1);
  EXPECT_EQ(outcome(known), "completed");
  json::object forged = token_with({grant()}, 2);
  sign(forged, key_c());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(outcome(forged), "grant_untrusted_issuer");
  EXPECT_EQ(outcome(forged), "grant_rate");
  EXPECT_EQ(outcome(token_with({grant()}, 3)), "grant_rate");
  EXPECT_EQ(outcome(known), "completed");
  Call other = call_with(token_with({grant()}, 4));
  other.agent_id = "agent:b";
  EXPECT_EQ(outcome(other), "grant_subject");
  clock.advance(std::chrono::seconds(60));
  EXPECT_EQ(outcome(token_with({grant()}, 3)), "completed");
}

// CG-68: a refusal that another time or another call would avoid is no abuse.
TEST_F(GrantGuardTest, OnlyWhatNothingMendsCountsAgainstAPrincipal) {
  settings.failures = {.most = 3, .per = std::chrono::seconds(60)};
  const json::object good = token_with({limited_to("path_prefix", "/srv/app")}, 1);
  clock.step_wall(std::chrono::hours(2));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(outcome(good), "grant_expired");
  clock.step_wall(-std::chrono::hours(2));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(outcome(call_with(good, {{"path", "/etc"}})), "grant_scope");
  json::object odd = good;
  odd["x"] = 1;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(outcome(odd), "grant_malformed");
  EXPECT_EQ(outcome(odd), "grant_rate");
}

// CG-23 CG-62
TEST_F(GrantGuardTest, ACallThatWaitsIsCheckedAgainWhenItIsAboutToRun) {
  governed.plan.tool("", "read_file", {Tier::Confirm, "fs.write"})
      .autonomy(Autonomy::ActWithApproval);
  const json::object token = token_with({grant()});
  governed.approver = std::make_shared<sallyport::test::FunctionApprover>([&](const Question&) {
    revoke(token.at("id").as_string());
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(outcome(token), "grant_revoked");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// CG-23
TEST_F(GrantGuardTest, TheTimeOfTheSecondCheckIsThatMoment) {
  governed.plan.tool("", "read_file", {Tier::Confirm, "fs.write"})
      .autonomy(Autonomy::ActWithApproval);
  governed.approver = std::make_shared<sallyport::test::FunctionApprover>([&](const Question&) {
    clock.advance(std::chrono::hours(2));
    return Reply::approve("user:ada");
  });
  EXPECT_EQ(outcome(token_with({grant()})), "grant_expired");
  EXPECT_TRUE(governed.upstream->calls.empty());
}

// A grant only adds a condition: AT-7 (partly)
TEST_F(GrantGuardTest, TheCeilingOfAGrantLowersTheTier) {
  governed.plan.tool("", "read_file", {Tier::Confirm, "fs.write"}).autonomy(Autonomy::ActAuto);
  EXPECT_EQ(outcome(token_with({limited_to("autonomy_ceiling", "shadow")})),
            "shadow: read_file was not run");
  EXPECT_EQ(last("/autonomy"), "shadow");
  EXPECT_EQ(last("/autonomy_source"), "grant");
  EXPECT_EQ(outcome(token_with({limited_to("autonomy_ceiling", "act_auto")})), "completed");
}

TEST_F(GrantGuardTest, AStoreThatCannotBeReadDenies) {
  class Unreadable final : public core::RecordReader {
   public:
    Result<std::optional<std::string>> fact(std::string_view, std::string_view) override {
      return fail(ErrorCode::Unavailable, "gone");
    }
    Result<std::vector<core::Fact>> facts(std::string_view) override {
      return fail(ErrorCode::Unavailable, "gone");
    }
    Result<json::object> entry(std::uint64_t) override {
      return fail(ErrorCode::Unavailable, "gone");
    }
  } unreadable;
  const GrantGuard guard(settings, unreadable, clock);
  EXPECT_FALSE(run_now(guard.judge(call_with(token_with({grant()})), {})));
}

}  // namespace
}  // namespace sallyport::grants
