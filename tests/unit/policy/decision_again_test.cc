// One function decides: a rehearsal gives the verdict of the real call, for random policies and
// calls, and one decision uses facts of one moment.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <random>
#include <set>

#include "core/call/call_record.h"
#include "core/decision/decision_context.h"
#include "core/decision/decision_facts.h"
#include "core/record/reading_recorder.h"
#include "guardrails/check/hole_search.h"
#include "guards/redact/text_redaction.h"
#include "policy/policy.h"
#include "rules/case_view.h"
#include "support/fake_recorder.h"
#include "support/governed.h"
#include "support/test_clock.h"

namespace sallyport::policy {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  bool chance(unsigned percent) { return engine_() % 100 < percent; }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[engine_() % all.size()];
  }

 private:
  std::mt19937 engine_;
};

const std::vector<std::string> kTools = {"Bash", "Read", "Write", "echo", "send_money"};
const std::vector<std::string> kAgents = {"a", "b", "claude-code"};
const std::vector<std::string> kTiers = {"shadow", "suggest", "act_with_approval", "act_auto"};
const std::vector<std::string> kWords = {"alpha",
                                         "beta",
                                         "/w/x",
                                         "/etc/passwd",
                                         "git push",
                                         "rm -rf /w/x",
                                         "ls && git push origin",
                                         "1234567812345678"};

std::string tiers(Random& random) {
  std::string text = "autonomy:\n";
  if (random.chance(80)) text += "  tier: " + random.of(kTiers) + "\n";
  if (random.chance(40))
    text += fmt::format("  agent_tiers: {{{}: {}}}\n", random.of(kAgents), random.of(kTiers));
  if (random.chance(40))
    text += fmt::format("  action_tiers: {{{}: {}}}\n", random.of(kTools), random.of(kTiers));
  if (random.chance(20)) text += "  requires_human: true\n";
  if (random.chance(20)) text += fmt::format("  requires_human_actions: [{}]\n", random.of(kTools));
  if (random.chance(15)) text += "  budget: {max_per_hour: 0}\n";
  return text == "autonomy:\n" ? "autonomy: {tier: act_auto}\n" : text;
}

std::string checks(Random& random) {
  if (random.chance(40)) return {};
  std::string text = "guardrails:\n  checks:\n";
  const std::vector<std::string> actions = {"block", "log", "redact"};
  text +=
      fmt::format("    - {{type: blocklist, stage: tool_use, id: one, on_fail: {}, words: [{}]}}\n",
                  random.of(actions), random.chance(50) ? "alpha" : "beta");
  text += fmt::format(
      "    - {{type: regex, stage: tool_use, id: two, on_fail: {}, patterns: ['[0-9]{{16}}']}}\n",
      random.of(actions));
  return text;
}

std::string rules(Random& random) {
  if (random.chance(40)) return {};
  const std::vector<std::string> then = {"deny", "ask", "allow", "log"};
  const std::vector<std::string> when = {"{command: git push}",
                                         "{class: fs.delete}",
                                         "{tool: Bash}",
                                         "{path: '/etc/**'}",
                                         "{class: fs.write, inside: workspace}",
                                         "{agent: a}"};
  std::string text = "rules:\n";
  for (int i = 0; i < 3; ++i) {
    text +=
        fmt::format("  - {{id: r{}, then: {}, when: {}}}\n", i, random.of(then), random.of(when));
  }
  if (random.chance(30)) text += random.chance(50) ? "unlisted: ask\n" : "unlisted: deny\n";
  return text;
}

std::string tools(Random& random) {
  if (random.chance(50)) return {};
  return fmt::format("tools: [{{tool: {}, tier: {}, class: none}}]\n", random.of(kTools),
                     random.chance(50) ? "observe" : "confirm");
}

Call random_call(Random& random) {
  const std::string word = random.of(kWords);
  const std::string tool = random.of(kTools);
  json::object input{{tool == "Bash" ? "command" : tool == "echo" ? "message" : "file_path", word}};
  Call call{.agent_id = random.of(kAgents),
            .session_id = "s",
            .server = random.chance(50) ? "claude-code" : "fake",
            .tool = tool,
            .input = std::move(input)};
  call.setting = {.front = random.chance(50) ? "hook" : "mcp", .folder = "/w", .workspace = {"/w"}};
  return call;
}

std::string word_of(const core::Rehearsal& seen) {
  if (seen.refusal) return "refused: " + *seen.refusal;
  return seen.question ? "asks" : "runs";
}

std::string word_of(const Answer& answer) {
  if (answer.outcome.kind == Outcome::Kind::Blocked) return "refused: " + answer.outcome.text;
  return answer.outcome.kind == Outcome::Kind::RequiresConfirmation ? "asks" : "runs";
}

// WB-1 RU-78 (partly). `SALLYPORT_PAIRS` sets a larger number of pairs.
TEST(DecisionAgainTest, ARehearsalSaysWhatARealCallMeets) {
  const char* const wanted = std::getenv("SALLYPORT_PAIRS");
  const int policies = wanted ? std::atoi(wanted) / 20 : 200;
  const rules::CaseView files({}, {});
  std::size_t decided = 0;
  std::map<std::string, int> seen_verdicts;
  for (int seed = 0; seed < policies; ++seed) {
    Random random(static_cast<unsigned>(seed));
    const std::string text =
        "version: 1\n" + tiers(random) + checks(random) + rules(random) + tools(random);
    const Result<Policy> policy = read_policy(text, "policy.yaml");
    if (!policy) continue;
    test::TestClock clock;
    SystemEntropy entropy;
    test::FakeRecorder recorder;
    core::PlanBuilder builder;
    ASSERT_TRUE(add_to_plan(builder, *policy, *compile_guardrails(*policy, 1),
                            {.clock = clock,
                             .entropy = entropy,
                             .fingerprint_key = "key",
                             .machine = {.home = "/home/user"},
                             .files = &files}));
    const auto plan = builder.build();
    ASSERT_TRUE(plan) << text;
    const core::FixedPlan plans(*plan);
    const core::NoRedactor redactor;
    core::Governor governor({plans, recorder, redactor, clock, entropy, KeyedDigest("key")});
    for (int i = 0; i < 20; ++i) {
      const Call call = random_call(random);
      const auto upstream = std::make_shared<test::FakeUpstream>();
      core::ReadingRecorder reading(recorder);
      core::Governor other({plans, reading, redactor, clock, entropy, KeyedDigest("key")});
      const Result<core::Rehearsal> rehearsed = test::run_now(other.rehearse(call, upstream));
      ASSERT_TRUE(rehearsed);
      ASSERT_TRUE(upstream->calls.empty());
      const Result<Answer> answer =
          test::run_now(governor.run(call, upstream, core::Caller{.holds = false}));
      ASSERT_TRUE(answer) << answer.error().message;
      const std::string verdict = word_of(*rehearsed);
      ASSERT_EQ(verdict, word_of(*answer)) << text << json::serialize(call.input);
      ASSERT_EQ(upstream->calls.size(), verdict == "runs" ? 1U : 0U) << text;
      for (const Call& given : upstream->calls)
        ASSERT_EQ(given.input, rehearsed->call.input) << text;
      ++seen_verdicts[verdict.substr(0, 4)];
      ++decided;
    }
  }
  EXPECT_GT(decided, static_cast<std::size_t>(policies) * 10);
  EXPECT_EQ(seen_verdicts.size(), 3U);  // each kind of verdict occurs
}

// WB-8
TEST(DecisionAgainTest, FactsOfOneDecisionAreReadOnceAndNameTheirMoment) {
  class Growing final : public core::RecordReader {
   public:
    Result<std::optional<std::string>> fact(std::string_view, std::string_view key) override {
      return key == "changes" ? std::optional(std::to_string(size)) : std::nullopt;
    }
    Result<std::vector<core::Fact>> facts(std::string_view) override { return {}; }
    Result<json::object> entry(std::uint64_t) override { return json::object{}; }
    Result<Moment> moment(const std::vector<core::FactKey>& keys) override {
      Result<Moment> found = core::RecordReader::moment(keys);
      found->size = size;
      return found;
    }
    std::uint64_t size = 7;
  };
  Growing ledger;
  core::DecisionFacts facts(ledger);
  EXPECT_EQ(*facts.fact("s", "changes"), "7");
  EXPECT_EQ(facts.as_of(), 7U);
  ledger.size = 9;
  EXPECT_EQ(*facts.fact("s", "changes"), "7");  // read once
  EXPECT_FALSE(facts.torn());
  EXPECT_EQ(*facts.fact("s", "other"), std::nullopt);
  EXPECT_EQ(facts.as_of(), 9U);
  EXPECT_TRUE(facts.torn());  // `changes` has another value by now
  ASSERT_TRUE(facts.read_again());
  EXPECT_FALSE(facts.torn());
  EXPECT_EQ(*facts.fact("s", "changes"), "9");
  EXPECT_EQ(facts.as_of(), 9U);
}

// WB-8
TEST(DecisionAgainTest, ARecordThatIsMadeOfAnIntentHasTheContextToo) {
  const core::DecisionContext context{.as_of = 12,
                                      .class_source = "table",
                                      .caution = true,
                                      .definition = "sha256:" + std::string(64, 'e'),
                                      .front = "mcp"};
  const std::string began = "2026-01-01T00:00:00.000000Z";
  const json::object intent{
      {"body", json::object{{"started_at", began}, {"decided", context.brief()}}}};
  const json::object body = core::CallRecord::from_entry(intent).audit().body;
  EXPECT_FALSE(body.contains("started_at"));
  EXPECT_FALSE(body.contains("decided"));
  EXPECT_EQ(body.at("decided_at"), json::value(began));
  EXPECT_EQ(body.at("as_of"), 12);
  EXPECT_EQ(body.at("class_source"), "table");
  EXPECT_EQ(body.at("caution"), true);
  EXPECT_EQ(body.at("definition"), json::value(context.definition));
  EXPECT_EQ(body.at("front"), "mcp");
  // Each of the last two members may be absent.
  for (const bool caution : {false, true}) {
    for (const std::string& definition : {std::string(), "sha256:" + std::string(64, '0')}) {
      core::DecisionContext one = context;
      one.caution = caution;
      one.definition = definition;
      const auto read = core::DecisionContext::from_brief(one.brief(), began);
      ASSERT_TRUE(read) << one.brief();
      EXPECT_EQ(read->caution, caution) << one.brief();
      EXPECT_EQ(read->definition, definition) << one.brief();
    }
  }
  const json::object old{{"body", json::object{{"started_at", began}}}};
  EXPECT_FALSE(core::CallRecord::from_entry(old).audit().body.contains("decided_at"));
}

// A pattern for these bytes alone.
std::string pattern_of(std::string_view bytes) {
  std::string pattern;
  for (const char c : bytes) pattern += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return pattern;
}

// WB-38
TEST(DecisionAgainTest, WhatADetectorTakesOutIsOfItsForm) {
  const auto detectors = *guards::Detectors::build();
  const std::vector<std::string> values = {"AKIAIOSFODNN7EXAMPLE",
                                           "ASIA0123456789ABCDEF",
                                           "ghp_" + std::string(36, 'a'),
                                           "github_pat_" + std::string(22, 'B'),
                                           "glpat-" + std::string(20, '1'),
                                           "xoxb-0123456789ab",
                                           "AIza" + std::string(35, 'x'),
                                           "sk-" + std::string(19, 'a') + "1",
                                           "sk_live_" + std::string(16, '7'),
                                           "123-45-6789",
                                           "first.last+tag@mail.example.org",
                                           "+12025550123",
                                           "DE89370400440532013000",
                                           "GB29 NWBK 6016 1331 9268 19"};
  std::size_t forms = 0;
  std::set<std::string> checked;
  for (const std::string& value : values) {
    for (const std::string& text : {value, "x " + value + " y"}) {
      for (const guards::RemovedText& removed : guards::redact_text(*detectors, text).removed) {
        const std::string detector(name_of(removed.detector));
        const auto hole = guardrails::pieces_of("[REDACTED:secret]", {{"secret", detector}});
        ASSERT_TRUE(hole);
        if (guardrails::words_of(*hole) == 0) continue;  // its finds may be any text
        ++forms;
        if (!checked.insert(detector + " " + removed.bytes).second) continue;
        const guardrails::Check these_bytes{.type = guardrails::CheckType::Regex,
                                            .entries = {pattern_of(removed.bytes)}};
        EXPECT_TRUE(guardrails::reach_of(these_bytes, *hole).may) << removed.bytes;
      }
    }
  }
  EXPECT_GT(forms, 20U);
}

// WB-38
TEST(DecisionAgainTest, AHoleHitsForAllWordsForSomeOrForNone) {
  const auto reach = [](std::string pattern, std::string_view text, std::string detector) {
    const guardrails::Check check{.type = guardrails::CheckType::Regex,
                                  .entries = {std::move(pattern)}};
    return guardrails::reach_of(check,
                                *guardrails::pieces_of(text, {{"secret", std::move(detector)}}));
  };
  const std::string text = "key [REDACTED:secret] end";
  EXPECT_TRUE(reach("A[KS]IA", text, "aws_access_key_id").must);
  EXPECT_TRUE(reach("[A-Z0-9]{20} end", text, "aws_access_key_id").must);
  EXPECT_FALSE(reach("AKIA", text, "aws_access_key_id").must);
  EXPECT_TRUE(reach("AKIA", text, "aws_access_key_id").may);
  EXPECT_FALSE(reach("[a-z]{4}", text, "aws_access_key_id").may);
  EXPECT_TRUE(reach("[a-z]{4}", text, "password_assignment").may);
  EXPECT_TRUE(reach("key [\\s\\S]* end", text, "password_assignment").must);
  EXPECT_FALSE(
      reach("\\bkey\\b", text, "password_assignment").must);  // assertions are not followed
  EXPECT_FALSE(
      guardrails::pieces_of("two [REDACTED:secret] [REDACTED:secret]", {{"secret", "email"}}));
}

}  // namespace
}  // namespace sallyport::policy
