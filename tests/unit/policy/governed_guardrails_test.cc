// The checks of a policy at both doors of real calls, and their ledger entries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "policy/policy.h"
#include "support/governed_ledger.h"

namespace sallyport::policy {
namespace {

using test::Governed;

constexpr const char* kKey = "AKIAIOSFODNN7EXAMPLE";

class GovernedGuardrailsTest : public testing::Test, protected test::GovernedLedger {
 protected:
  void in_force(const std::string& checks, const std::string& more = "") {
    const Result<Policy> policy = read_policy("version: 1\nautonomy: {tier: act_auto}\n" + more +
                                                  "guardrails: {checks: [" + checks + "]}",
                                              "policy.yaml");
    ASSERT_TRUE(policy) << policy.error().where << ": " << policy.error().message;
    compiled_ = *compile_guardrails(*policy, 3);
    ASSERT_TRUE(add_to_plan(plan, *policy, compiled_, {clock, entropy, "key"}));
  }

  void tool_says(json::value value) {
    tool_answers(
        [value](Call, std::stop_token) -> Task<Envelope> { co_return Envelope::of(value); });
  }

  std::vector<json::object> hits() {
    std::vector<json::object> found;
    for (const test::Seen& seen : test::all_entries(ledger.store())) {
      if (seen.entry.at("kind") != json::value("guard_hit")) continue;
      found.push_back(*ledger->entry(seen.stored.sequence));
    }
    return found;
  }

  AuditRecord last_record() { return records().back(); }

  std::shared_ptr<const guardrails::Guardrails> compiled_;
};

// GR-31 GR-36 GR-72 GR-73 GR-76
TEST_F(GovernedGuardrailsTest, ARefusedCallDoesNotRunAndItsHitIsAnEntry) {
  in_force("{type: regex, stage: tool_use, id: drop, severity: high, patterns: ['drop\\s+table']}");
  open();
  Call asked = Governed::read_file();
  asked.input = json::object{{"query", "please DROP\ndrop\ntable users"}};
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer);
  EXPECT_EQ(upstream->calls.size(), 0u);
  EXPECT_EQ(answer->outcome.kind, Outcome::Kind::Blocked);
  EXPECT_EQ(answer->outcome.text, "guardrail check 'drop' refused this call (guardrail.regex)");
  const std::vector<json::object> found = hits();
  ASSERT_EQ(found.size(), 1u);
  const json::object& body = found[0].at("body").as_object();
  EXPECT_EQ(body.at("check"), json::value("drop"));
  EXPECT_EQ(body.at("path"), json::value("/query"));
  EXPECT_EQ(body.at("start"), json::value(12));
  EXPECT_EQ(body.at("severity"), json::value("high"));
  EXPECT_EQ(body.at("view"), json::value("raw"));
  EXPECT_EQ(body.at("at"), json::value());
  EXPECT_EQ(body.at("released_bytes"), json::value(0));
  EXPECT_EQ(body.at("generation"), json::value(3));
  EXPECT_EQ(body.at("config_hash"), json::value(compiled_->document().config_hash));
  EXPECT_FALSE(body.contains("matched"));
  EXPECT_EQ(found[0].at("call_id"), json::value(answer->call_id));
  const AuditRecord record = last_record();
  ASSERT_EQ(record.guards.size(), 1u);
  EXPECT_EQ(record.guards[0].rule, "drop");
  EXPECT_EQ(record.guards[0].evidence.at("ran"), json::value(json::array{"drop"}));
  EXPECT_EQ(record.guards[0].evidence.at("decision").at("replacement"),
            json::value("[This tool call was refused by a guardrail.]"));
}

// GR-31 GR-36
TEST_F(GovernedGuardrailsTest, WhatIsRedactedInTheArgumentsNeverReachesTheTool) {
  in_force(
      "{type: regex, stage: tool_use, id: key, on_fail: redact, patterns: ['AKIA[A-Z0-9]{16}']}");
  open();
  Call asked = Governed::read_file();
  asked.input = json::object{{"path", "/a"}, {"note", std::string("key ") + kKey}};
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer);
  ASSERT_EQ(upstream->calls.size(), 1u);
  EXPECT_EQ(upstream->calls[0].input, (json::value{{"path", "/a"}, {"note", "key [redacted]"}}));
  ASSERT_EQ(hits().size(), 1u);
  EXPECT_EQ(hits()[0].at("body").at("action"), json::value("redact"));
  const AuditRecord record = last_record();
  ASSERT_EQ(record.guards.size(), 2u);
  EXPECT_EQ(record.guards[0].verdict, GuardVerdict::Rewrite);
  EXPECT_EQ(record.guards[1].verdict, GuardVerdict::Allow);
}

// GR-31 GR-56 (partly) GR-72 GR-74
TEST_F(GovernedGuardrailsTest, ABlockedResultIsWithheldAsAnErrorAndItsReplacementIsTheReason) {
  in_force("{type: regex, stage: tool_output, id: key, patterns: ['AKIA[A-Z0-9]{16}']}");
  tool_says(json::value(std::string("here: ") + kKey));
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  EXPECT_NE(answer->result.output.find("[This tool result was withheld by a guardrail.]"),
            std::string::npos);
  const std::vector<json::object> found = hits();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LT(found[0].at("sequence").as_int64(), static_cast<std::int64_t>(answer->sequence));
  EXPECT_EQ(test::files_with(ledger.folder.path(), kKey), std::vector<std::string>{});
}

// GR-72
TEST_F(GovernedGuardrailsTest, ExcerptsAreWithheldUnlessThePolicyKeepsThem) {
  in_force("{type: blocklist, stage: tool_use, id: word, on_fail: log, words: [swordfish]}");
  open();
  Call asked = Governed::read_file();
  asked.input = json::object{{"note", "Swordfish"}};
  ASSERT_TRUE(call(asked));
  ASSERT_EQ(hits().size(), 1u);
  EXPECT_EQ(hits()[0].at("body").at("excerpt").at("state"), json::value("withheld"));
}

// GR-56 GR-72
TEST_F(GovernedGuardrailsTest, KeptExcerptsAreSealedAndNeverOfWhatWasTakenOutOrIsASecret) {
  in_force(
      "{type: blocklist, stage: tool_output, id: seen, on_fail: log, words: [swordfish]},"
      "{type: blocklist, stage: tool_output, id: out, on_fail: redact, words: [hunter2]},"
      "{type: regex, stage: tool_output, id: key, on_fail: log, patterns: ['AKIA[A-Z0-9]{16}']},"
      "{type: blocklist, stage: tool_use, id: stop, words: [forbidden]}",
      "keep_excerpts: true\n");
  tool_says(json::value(std::string("Swordfish Hunter2 ") + kKey));
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  Call refused = Governed::read_file();
  refused.input = json::object{{"note", "a Forbidden word"}};
  ASSERT_TRUE(call(refused));
  std::map<std::string, json::value> excerpts;
  for (const json::object& hit : hits()) {
    const json::object& body = hit.at("body").as_object();
    excerpts[std::string(body.at("check").as_string())] = body.at("excerpt");
  }
  ASSERT_EQ(excerpts.size(), 4u);
  EXPECT_EQ(excerpts["seen"], json::value("Swordfish"));
  EXPECT_EQ(excerpts["stop"], json::value("Forbidden"));
  EXPECT_EQ(excerpts["out"].at("state"), json::value("withheld"));
  EXPECT_EQ(excerpts["key"].at("state"), json::value("withheld"));
  // Sealed: the entries themselves hold a commitment, not the text.
  for (const test::Seen& seen : test::all_entries(ledger.store())) {
    if (seen.entry.at("kind") != json::value("guard_hit")) continue;
    EXPECT_EQ(json::serialize(seen.entry).find("Swordfish"), std::string::npos);
  }
  EXPECT_EQ(test::files_with(ledger.folder.path(), "Hunter2"), std::vector<std::string>{});
  EXPECT_EQ(test::files_with(ledger.folder.path(), kKey), std::vector<std::string>{});
}

// GR-31 GR-32
TEST_F(GovernedGuardrailsTest, SpansOfAResultAreReplacedWhereverTheyStand) {
  in_force(
      "{type: regex, stage: tool_output, id: key, on_fail: redact, patterns: "
      "['AKIA[A-Z0-9]{16}']}");
  tool_says(json::object{{"content", json::array{json::object{{"type", "text"}, {"text", kKey}}}},
                         {"rows", json::array{1, 2.5, std::string("x ") + kKey + " y"}}});
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(
      answer->released.value,
      (json::value{{"content", json::array{json::object{{"type", "text"}, {"text", "[redacted]"}}}},
                   {"rows", json::array{1, 2.5, "x [redacted] y"}}}));
}

TEST_F(GovernedGuardrailsTest, AMatchAcrossThePiecesOfAStreamIsFound) {
  in_force(
      "{type: regex, stage: tool_output, id: key, on_fail: redact, patterns: "
      "['AKIA[A-Z0-9]{16}']}");
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    Envelope stream{.kind = Envelope::Kind::Stream};
    stream.chunks = {"key AKIAIOSF", "ODNN7EXAMPLE", " ok"};
    co_return stream;
  });
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->released.chunks, std::vector<json::value>{"key [redacted] ok"});
}

// GR-32: an error text counts as one more
TEST_F(GovernedGuardrailsTest, TheTextOfAnErrorIsLookedAtToo) {
  in_force("{type: blocklist, stage: tool_output, id: word, on_fail: redact, words: [swordfish]}");
  tool_answers([](Call, std::stop_token) -> Task<Envelope> {
    co_return Envelope::error("login with Swordfish failed");
  });
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->released.message, "login with [redacted] failed");
}

// A path that fits no entry: the call failed or, after its effect, was never recorded.
// GR-72 LE-4 (partly)
TEST_F(GovernedGuardrailsTest, AHitInTheDeepestPlaceIsRecorded) {
  in_force(
      "{type: blocklist, stage: tool_use, on_fail: log, words: [hush]},"
      "{type: blocklist, stage: tool_output, on_fail: log, words: [hush]}");
  open();
  const std::string longest(70'000, 'k');
  tool_says(json::object{{"a", json::object{{longest, "hush"}}}});
  Call asked = Governed::read_file();
  asked.input = json::object{{"b/c", json::object{{longest, json::object{{"d", "hush"}}}}}};
  const Result<Answer> answer = call(asked);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->result.success);
  const std::vector<json::object> found = hits();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].at("body").at("path"), "/b~1c");
  EXPECT_EQ(found[1].at("body").at("path"), "/a");
  EXPECT_EQ(last_record().outcome.kind, Outcome::Kind::Completed);
}

// The name of a member that was withheld stood in the path of the entry.
// GR-56 (partly) PI-47 (partly)
TEST_F(GovernedGuardrailsTest, ThePathOfAHitDoesNotHoldWhatWasWithheld) {
  in_force("{type: regex, stage: tool_output, tools: ['read_*'], patterns: ['C-[0-9]{3}/']}");
  open();
  tool_says(json::parse(R"({"rows":[{"C-123/":{"a":"C-123/"}}]})"));
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->result.success);
  const std::vector<json::object> found = hits();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].at("body").at("path"), "/rows/0");
}

// GR-15 GR-72
TEST_F(GovernedGuardrailsTest, AnAdvisoryHitIsRecordedAndChangesNothing) {
  in_force("{type: blocklist, stage: tool_output, id: word, on_fail: log, words: [swordfish]}");
  tool_says("Swordfish");
  open();
  const Result<Answer> answer = call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->released.value, json::value("Swordfish"));
  ASSERT_EQ(hits().size(), 1u);
  EXPECT_EQ(hits()[0].at("body").at("action"), json::value("log"));
}

// GR-34 GR-62 GR-73
TEST_F(GovernedGuardrailsTest, TheRecordSaysWhichChecksDidNotLookAndWhy) {
  in_force(
      "{type: blocklist, stage: tool_use, id: scoped, tools: [other], words: [x]},"
      "{type: blocklist, stage: tool_use, id: deep, args: [/query], words: [x]},"
      "{type: blocklist, stage: output, id: later, words: [x]}");
  open();
  ASSERT_TRUE(call(Governed::read_file()));
  const json::value evidence = last_record().guards.at(0).evidence;
  EXPECT_EQ(evidence.at("ran"), json::value(json::array{}));
  EXPECT_EQ(evidence.at("skipped"), (json::value{{"tool", json::array{"scoped"}},
                                                 {"args", json::array{"deep"}},
                                                 {"stage", json::array{"later"}}}));
}

// GR-36: the author's message in the check reaches the agent, after the reason.
TEST_F(GovernedGuardrailsTest, ARefusedCallHasTheWordsOfTheAuthor) {
  in_force(
      "{type: blocklist, stage: tool_use, id: prod, words: [prod], replacement: Use staging.}");
  open();
  Call asked = Governed::read_file();
  asked.input = json::object{{"path", "/prod"}};
  EXPECT_EQ(
      call(asked)->result.output,
      "Blocked: guardrail check 'prod' refused this call (guardrail.blocklist): Use staging.");
}

// GR-17: an empty replacement is used unchanged.
TEST_F(GovernedGuardrailsTest, AnEmptyReplacementIsEmpty) {
  in_force("{type: blocklist, stage: tool_output, id: w, words: [alpha], replacement: ''}");
  tool_says("alpha");
  open();
  EXPECT_EQ(call(Governed::read_file())->result.output, "Result withheld by guardrails-output: ");
}

// A call that a check refuses has no tier, and its record states that.
TEST_F(GovernedGuardrailsTest, ACallThatIsRefusedBeforeItsTierSaysSo) {
  in_force("{type: blocklist, stage: tool_use, id: w, words: [alpha]}");
  open();
  Call asked = Governed::read_file();
  asked.input = json::object{{"path", "alpha"}};
  ASSERT_TRUE(call(asked));
  EXPECT_EQ(last_record().autonomy_source, "not_weighed");
}

}  // namespace
}  // namespace sallyport::policy
