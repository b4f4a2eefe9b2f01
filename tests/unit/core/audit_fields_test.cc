// The contents of a call's tool-audit record: agent, tool, plan, and the verdict and reason of each
// guard.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>

#include "core/record/stored_record.h"
#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::FunctionGuard;
using test::Governed;

AuditRecord record_of(Governed& governed, const Answer& answer) {
  const Result<AuditRecord> record = audit_record_of(*governed.recorder.entry(answer.sequence));
  EXPECT_TRUE(record) << record.error().message;
  return record.value_or(AuditRecord{});
}

AuditRecord record_after(Governed& governed, Call call) {
  const Result<Answer> answer = governed.call(std::move(call));
  EXPECT_TRUE(answer) << answer.error().message;
  return record_of(governed, *answer);
}

std::shared_ptr<FunctionGuard> says(std::string name, Verdict verdict) {
  return std::make_shared<FunctionGuard>(std::move(name),
                                         [verdict](const Call&) { return verdict; });
}

std::string listed(const std::vector<GuardRun>& runs) {
  std::string text;
  for (const GuardRun& run : runs) {
    text += (text.empty() ? "" : ", ") + run.guard + std::to_string(run.pass) + " " +
            std::string(to_string(run.verdict));
    if (run.why) text += "(" + *run.why + ")";
  }
  return text;
}

// AU-4 AU-5 AU-6 AU-7 AU-8
TEST(AuditFieldsTest, ARecordNamesTheCallAndWhoMadeIt) {
  Governed governed;
  const Call asked{.call_id = "chosen by the caller",
                   .tool_call_id = "toolu_9",
                   .agent_id = "agent:a",
                   .session_id = "s-1",
                   .trace_id = "trace-1",
                   .server = "files",
                   .tool = "never_classified",
                   .input = {{"path", "/tmp/x"}},
                   .turn = 4};
  const AuditRecord record = record_after(governed, asked);
  const std::regex uuid7("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  EXPECT_TRUE(std::regex_match(record.call_id, uuid7)) << record.call_id;
  EXPECT_EQ(record.tool_call_id, "toolu_9");
  EXPECT_EQ(record.tool_name, "never_classified");
  EXPECT_EQ(record.display_name, "never_classified");
  EXPECT_EQ(record.tier, Tier::Confirm);
  EXPECT_EQ(record.effect_class, "unknown");
  EXPECT_EQ(record.provenance, (Provenance{"unknown", "unknown"}));
  EXPECT_EQ(record.requested_input, asked.input);
  EXPECT_EQ(record.effective_input, asked.input);
  EXPECT_EQ(record.agent_id, "agent:a");
  EXPECT_EQ(record.session_id, "s-1");
  EXPECT_EQ(record.trace_id, "trace-1");
  EXPECT_EQ(record.server, "files");
  EXPECT_EQ(record.turn, 4u);
  Call again = asked;
  again.tool_call_id.clear();
  const AuditRecord second = record_after(governed, again);
  EXPECT_NE(second.call_id, record.call_id);
  EXPECT_EQ(second.tool_call_id, second.call_id);
}

// AU-9 AU-10
TEST(AuditFieldsTest, PositionsRiseWithinACallAndThePolicyHashIsThatOfThePinnedPlan) {
  Governed governed;
  governed.upstream =
      std::make_shared<test::FakeUpstream>([&](Call, std::stop_token) -> Task<Envelope> {
        governed.change_plan(PlanBuilder().autonomy(Autonomy::Shadow));
        co_return Envelope::of("hello");
      });
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->result.success) << "a reload does not touch a call that runs";
  const std::string hash = (*PlanBuilder().autonomy(Autonomy::ActAuto).build())->hash();
  for (const Draft& draft : governed.recorder.written) {
    EXPECT_EQ(draft.subject->policy_hash, hash);
    EXPECT_EQ(draft.subject->call_id, answer->call_id);
  }
  EXPECT_EQ(answer->sequence, governed.recorder.written.size() - 1);
  EXPECT_EQ(record_of(governed, *answer).sequence, answer->sequence);
}

// AU-11
TEST(AuditFieldsTest, TheRequestDigestCoversServerToolInputAndPrincipal) {
  Governed governed;
  Call call = Governed::read_file();
  call.tool_call_id.clear();
  const AuditRecord first = record_after(governed, call);
  EXPECT_EQ(
      first.request_digest,
      KeyedDigest("k")(
          R"({"input":{"path":"/tmp/x"},"principal":"agent:a","server":"","tool":"read_file"})"));
  call.session_id = "s-2";
  call.turn = 7;
  EXPECT_EQ(record_after(governed, call).request_digest, first.request_digest);
  const std::function<void(Call&)> changes[] = {
      [](Call& c) { c.server = "files"; }, [](Call& c) { c.tool = "write_file"; },
      [](Call& c) { c.input = {{"path", "/tmp/y"}}; }, [](Call& c) { c.agent_id = "agent:b"; }};
  for (const auto& change : changes) {
    Call other = call;
    change(other);
    EXPECT_NE(record_after(governed, other).request_digest, first.request_digest);
  }
}

// A tool that describes itself as the test chooses.
class DescribedTool final : public Upstream {
 public:
  explicit DescribedTool(std::string definition) : definition_(std::move(definition)) {}
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    co_return Envelope::of("ran");
  }
  std::string definition() const override { return definition_; }

 private:
  std::string definition_;
};

// AU-11
TEST(AuditFieldsTest, TheCallDigestCoversTheDefinitionOfTheToolAndTheRequestDigestDoesNot) {
  std::vector<AuditRecord> records;
  for (const char* const definition : {"sha256:aa", "sha256:bb", "sha256:aa"}) {
    Governed governed;
    governed.tool = std::make_shared<DescribedTool>(definition);
    records.push_back(record_after(governed, Governed::read_file()));
  }
  EXPECT_NE(records[0].call_digest, records[1].call_digest);
  EXPECT_EQ(records[0].call_digest, records[2].call_digest);
  EXPECT_EQ(records[0].request_digest, records[1].request_digest);
}

// AU-11
TEST(AuditFieldsTest, TheCallDigestCoversTheFinalInputThePolicyAndThePrincipal) {
  Call call = Governed::read_file();
  call.tool_call_id.clear();
  Governed plain;
  const AuditRecord first = record_after(plain, call);
  EXPECT_TRUE(first.call_digest.starts_with("hmac-sha256:"));
  EXPECT_EQ(first.call_digest.size(), 12u + 64u);
  EXPECT_EQ(record_after(plain, call).call_digest, first.call_digest);
  Call other = call;
  other.agent_id = "agent:b";
  EXPECT_NE(record_after(plain, other).call_digest, first.call_digest);
  other = call;
  other.tool = "write_file";
  EXPECT_NE(record_after(plain, other).call_digest, first.call_digest);
  Governed other_plan;
  other_plan.plan.time_limit(std::chrono::milliseconds(59'999));
  const AuditRecord second = record_after(other_plan, call);
  EXPECT_NE(second.call_digest, first.call_digest);
  EXPECT_EQ(second.request_digest, first.request_digest);
  // The same guards, one of which changes the input: the plan's hash does not distinguish the two.
  std::vector<std::string> digests;
  for (const char* const path : {"/a", "/b"}) {
    Governed rewriting;
    rewriting.plan.guard(says("rewrite", Verdict::rewrite({{"path", path}})));
    const AuditRecord rewritten = record_after(rewriting, call);
    EXPECT_EQ(rewritten.request_digest, first.request_digest);
    digests.push_back(rewritten.call_digest);
  }
  EXPECT_NE(digests[0], digests[1]);
}

// AU-6 AU-12 AU-15
TEST(AuditFieldsTest, ARewriteIsRecordedWithDigestsOfBothInputs) {
  Governed governed;
  governed.plan.guard(says("rewrite", Verdict::rewrite({{"path", "/a"}}, "one form", "r7")));
  const AuditRecord record = record_after(governed, Governed::read_file());
  EXPECT_EQ(record.requested_input, (json::value{{"path", "/tmp/x"}}));
  EXPECT_EQ(record.effective_input, (json::value{{"path", "/a"}}));
  ASSERT_EQ(record.guards.size(), 2u);
  EXPECT_EQ(record.guards[0].verdict, GuardVerdict::Rewrite);
  EXPECT_EQ(record.guards[0].rule, "r7");
  EXPECT_EQ(record.guards[0].stage, "tool_use");
  const KeyedDigest digest("k");
  EXPECT_EQ(record.guards[0].evidence, (json::value{{"before", digest(R"({"path":"/tmp/x"})")},
                                                    {"after", digest(R"({"path":"/a"})")},
                                                    {"reason", "one form"}}));
  EXPECT_EQ(record.guards[1].verdict, GuardVerdict::Allow) << "what it made, it leaves";
}

// AU-13 AU-14 (partly)
TEST(AuditFieldsTest, EveryGuardIsListedOncePerPassInThePlansOrder) {
  Governed allowed;
  allowed.plan.guard(says("a", Verdict::allow()))
      .guard(says("b", Verdict::ask("sure?")))
      .guard(says("c", Verdict::escalate("look")));
  const Result<Answer> asked = allowed.call(Governed::read_file(), Caller{.holds = false});
  EXPECT_EQ(listed(record_of(allowed, *asked).guards), "a1 allow, b1 ask, c1 escalate");

  Governed denied;
  denied.plan.guard(says("a", Verdict::allow()))
      .guard(says("b", Verdict::deny("no")))
      .guard(says("c", Verdict::allow()))
      .guard(says("d", Verdict::deny("never asked")));
  EXPECT_EQ(listed(record_after(denied, Governed::read_file()).guards),
            "a1 allow, b1 deny, c1 skipped(denied_earlier), d1 skipped(denied_earlier)");

  Governed rewritten;
  rewritten.plan.guard(says("a", Verdict::allow())).guard(says("b", Verdict::rewrite({{"n", 1}})));
  EXPECT_EQ(listed(record_after(rewritten, Governed::read_file()).guards),
            "a1 allow, b1 rewrite, a2 allow, b2 allow");
}

// AU-14 (partly)
TEST(AuditFieldsTest, GuardsThatACancelLeftOutSaySo) {
  Governed governed;
  std::stop_source stop;
  governed.plan
      .guard(std::make_shared<FunctionGuard>("a",
                                             [&](const Call&) {
                                               stop.request_stop();
                                               return Verdict::allow();
                                             }))
      .guard(says("b", Verdict::allow()));
  const Result<Answer> answer = governed.call(Governed::read_file(), stop.get_token());
  ASSERT_TRUE(answer);
  const AuditRecord record = record_of(governed, *answer);
  EXPECT_EQ(listed(record.guards), "a1 allow, b1 skipped(cancelled)");
  EXPECT_EQ(record.outcome, Outcome::blocked("cancelled"));
  EXPECT_TRUE(governed.upstream->calls.empty());
}

}  // namespace
}  // namespace sallyport::core
