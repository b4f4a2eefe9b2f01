// The ends of calls: one terminal record on every path, with the caller's answer and the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "core/plan/authorizer.h"
#include "core/plan/pre_hook.h"
#include "support/governed.h"
#include "support/pause.h"

namespace sallyport::core {
namespace {

using test::FakePreparer;
using test::FakeUpstream;
using test::FunctionApprover;
using test::FunctionGuard;
using test::FunctionHook;
using test::FunctionResultGuard;
using test::Governed;
using test::text_at;

using Simple = FakeUpstream::Simple;

Task<Envelope> sleep_long() {
  co_await test::pause(std::chrono::seconds(30));
  co_return Envelope::of("too late");
}

std::shared_ptr<FakeUpstream> answers(Envelope envelope) {
  return std::make_shared<FakeUpstream>(
      Simple([envelope](Call, std::stop_token) -> Task<Envelope> { co_return envelope; }));
}

std::shared_ptr<const FunctionGuard> says(Verdict verdict) {
  return std::make_shared<FunctionGuard>("g", [verdict](const Call&) { return verdict; });
}

std::shared_ptr<const FunctionHook> refuses(std::string_view event) {
  return std::make_shared<FunctionHook>(
      "watch", [event](const Event& heard, const Subject&) -> Result<void> {
        if (event_type(heard) != event) return {};
        return fail(ErrorCode::Unavailable, "no");
      });
}

std::shared_ptr<const FunctionApprover> replies(Reply reply) {
  return std::make_shared<FunctionApprover>([reply](const Question&) { return reply; });
}

class UnreadableTool final : public Upstream {
 public:
  Task<Envelope> invoke(Call, std::shared_ptr<Delivery>, std::stop_token) override {
    ADD_FAILURE() << "was called";
    co_return Envelope::of("executed");
  }
  Result<json::value> structured_input(const Call&) const override {
    return fail(ErrorCode::InvalidInput, "no path in it");
  }
};

std::shared_ptr<FakePreparer> prepares(PrepareStep step) {
  auto tool = std::make_shared<FakePreparer>();
  tool->next = [step](unsigned) -> Task<std::optional<PrepareStep>> { co_return step; };
  return tool;
}

// One path through the Governor, and its end.
struct Path {
  std::string name;
  std::string outcome;
  std::string effect;
  std::string text;  // the reason, or the output
  std::function<Result<Answer>(Governed&)> walk;
};

Result<Answer> plain(Governed& governed) {
  return governed.call(Governed::read_file());
}

std::vector<Path> paths_that_run() {
  const auto with = [](std::shared_ptr<FakeUpstream> upstream) {
    return [upstream](Governed& governed) {
      governed.upstream = upstream;
      return plain(governed);
    };
  };
  std::vector<Path> paths;
  paths.push_back({"answers", "completed", "done", "hello", with(answers(Envelope::of("hello")))});
  paths.push_back({"tool error", "completed", "done", "no such file",
                   with(answers(Envelope::error("no such file")))});
  paths.push_back({"throws", "completed", "unknown", "the tool failed",
                   with(std::make_shared<FakeUpstream>(Simple(
                       [](Call, std::stop_token) -> Task<Envelope> { throw std::bad_alloc(); })))});
  paths.push_back(
      {"unreachable", "completed", "unknown", "the tool gave no answer and may have acted: refused",
       with(std::make_shared<FakeUpstream>(Simple([](Call, std::stop_token) -> Task<Envelope> {
         co_return fail(ErrorCode::Unavailable, "refused");
       })))});
  paths.push_back({"deadline", "completed", "unknown", "timed out after 10 ms", [](Governed& g) {
                     g.plan.time_limit(std::chrono::milliseconds(10));
                     g.upstream = std::make_shared<FakeUpstream>(
                         Simple([](Call, std::stop_token) { return sleep_long(); }));
                     return plain(g);
                   }});
  paths.push_back({"cancelled", "completed", "unknown", "cancelled", [](Governed& g) {
                     std::stop_source stop;
                     g.upstream = std::make_shared<FakeUpstream>(
                         Simple([stop](Call, std::stop_token) mutable {
                           stop.request_stop();
                           return sleep_long();
                         }));
                     return g.call(Governed::read_file(), stop.get_token());
                   }});
  paths.push_back({"withheld", "completed", "done", "", [](Governed& g) {
                     g.plan.result_guard(std::make_shared<FunctionResultGuard>(
                         "second", [](const Envelope&, const ResultContext&) {
                           return Verdict::deny("holds a secret");
                         }));
                     return plain(g);
                   }});
  paths.push_back({"approved", "completed", "done", "executed", [](Governed& g) {
                     g.plan.autonomy(Autonomy::ActWithApproval);
                     g.approver = replies(Reply::approve("user:ada"));
                     g.tool = std::make_shared<FakePreparer>();
                     return plain(g);
                   }});
  return paths;
}

// Paths that never call the tool.
void add_not_run(std::vector<Path>& paths, std::string name, std::string outcome, std::string text,
                 std::function<Result<Answer>(Governed&)> walk) {
  paths.push_back({std::move(name), std::move(outcome), "none", std::move(text), std::move(walk)});
}

// A person refuses, or gives no approval.
std::vector<Path> paths_that_are_refused() {
  const auto guarded = [](std::shared_ptr<const Guard> guard) {
    return [guard](Governed& governed) {
      governed.plan.guard(guard);
      return plain(governed);
    };
  };
  const auto asked = [](Reply reply) {
    return [reply](Governed& governed) {
      governed.plan.autonomy(Autonomy::ActWithApproval);
      governed.approver = replies(reply);
      return plain(governed);
    };
  };
  std::vector<Path> paths;
  add_not_run(paths, "guard", "blocked", "outside", guarded(says(Verdict::deny("outside"))));
  add_not_run(paths, "failing guard", "blocked", "guard g failed: error",
              guarded(std::make_shared<FunctionGuard>("g", [](const Call&) -> Result<Verdict> {
                return fail(ErrorCode::Unavailable, "down");
              })));
  add_not_run(paths, "hook", "blocked", "not today",
              guarded(std::make_shared<PreHookGuard>(
                  "hook",
                  [](PreHookContext) -> Task<PreHookDecision> {
                    co_return PreHookDecision::deny("not today");
                  },
                  PreHookGuard::Options{})));
  add_not_run(paths, "authorizer", "blocked", "host says no",
              guarded(std::make_shared<AuthorizerGuard>(
                  "host", [](AuthorizationRequest) -> Task<Authorization> {
                    co_return Authorization{Authorization::Kind::Deny, "host says no"};
                  })));
  add_not_run(paths, "shadow", "blocked", "shadow: read_file was not run", [](Governed& governed) {
    governed.plan.autonomy(Autonomy::Shadow);
    return plain(governed);
  });
  add_not_run(paths, "refused by a person", "blocked", "too dear",
              asked(Reply::deny("user:ada", "too dear")));
  add_not_run(paths, "refused without a reason", "blocked", "rejected",
              asked(Reply::deny("user:ada")));
  add_not_run(paths, "expired", "blocked", "approval_expired", [](Governed& governed) {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    Call call = Governed::read_file();
    call.time_limit = std::chrono::milliseconds(20);
    return governed.call(call);
  });
  add_not_run(paths, "cancelled while asked", "blocked", "cancelled", [](Governed& governed) {
    governed.plan.autonomy(Autonomy::ActWithApproval);
    std::stop_source stop;
    stop.request_stop();
    return governed.call(Governed::read_file(), stop.get_token());
  });
  return paths;
}

// The tool, a listener or an earlier step prevents the start.
std::vector<Path> paths_that_do_not_begin() {
  const auto tool = [](std::shared_ptr<Upstream> upstream) {
    return [upstream](Governed& governed) {
      governed.tool = upstream;
      return plain(governed);
    };
  };
  const auto heard = [](std::string_view event) {
    return [event](Governed& governed) {
      EXPECT_TRUE(governed.hooks.with_hook(refuses(event)));
      return plain(governed);
    };
  };
  std::vector<Path> paths;
  add_not_run(paths, "no preview", "blocked", "the call cannot be previewed: no path in it",
              tool(std::make_shared<UnreadableTool>()));
  add_not_run(paths, "rule of the tool", "blocked", "over the limit of the account",
              tool(prepares(
                  {.kind = PrepareStep::Kind::Refused, .text = "over the limit of the account"})));
  add_not_run(paths, "preparation invalid", "invalidated", "no such account",
              tool(prepares({.kind = PrepareStep::Kind::Invalid, .text = "no such account"})));
  add_not_run(paths, "other revision", "invalidated", "revision 4 now", [](Governed& governed) {
    const auto tool = std::make_shared<FakePreparer>();
    tool->execute = [](Call, std::stop_token) -> Task<Envelope> {
      co_return PreparingUpstream::other_revision("revision 4 now");
    };
    governed.tool = tool;
    return plain(governed);
  });
  add_not_run(paths, "listener of the decision", "blocked", "event sink failed: watch",
              heard("tool_authorization_started"));
  add_not_run(paths, "listener of the start", "blocked", "event sink failed: watch",
              heard("tool_execution_started"));
  add_not_run(paths, "conflict", "blocked", "idempotency conflict: `toolu_1` was another call",
              [](Governed& governed) {
                EXPECT_TRUE(plain(governed)->result.success);
                governed.recorder.written.clear();
                governed.recorder.commit_of.clear();
                governed.upstream->calls.clear();
                Call other = Governed::read_file();
                other.input = {{"path", "/etc/passwd"}};
                return governed.call(other);
              });
  add_not_run(paths, "ledger not ready", "blocked", "event sink failed: audit: no_space",
              [](Governed& governed) {
                governed.recorder.not_ready = Error{ErrorCode::Unavailable, "no_space"};
                return plain(governed);
              });
  return paths;
}

std::vector<Path> all_paths() {
  std::vector<Path> paths = paths_that_run();
  for (Path& path : paths_that_are_refused()) paths.push_back(std::move(path));
  for (Path& path : paths_that_do_not_begin()) paths.push_back(std::move(path));
  return paths;
}

std::size_t place_of(const Governed& governed, Kind kind, std::string_view event = {}) {
  const auto& written = governed.recorder.written;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i].kind != kind) continue;
    if (event.empty() || written[i].body.at("kind") == json::value(event)) return i;
  }
  return SIZE_MAX;
}

// AU-17 AU-22 AU-23 AU-27 AU-28 AU-29
TEST(AuditOutcomeTest, EveryPathEndsAsTheSpecificationSays) {
  for (const Path& path : all_paths()) {
    SCOPED_TRACE(path.name);
    Governed governed;
    const Result<Answer> answer = path.walk(governed);
    ASSERT_TRUE(answer) << answer.error().message;
    const Draft record = governed.recorder.records().back();
    EXPECT_EQ(record.outcome, path.outcome);
    EXPECT_EQ(text_at(record, "/outcome/kind"), path.outcome);
    EXPECT_EQ(text_at(record, "/effect_state"), path.effect);
    EXPECT_EQ(to_string(answer->effect), path.effect);
    const bool completed = path.outcome == "completed";
    EXPECT_EQ(answer->outcome.result.has_value(), completed);
    if (completed) {
      const bool success = path.text == "hello" || path.text == "executed";
      EXPECT_EQ(text_at(record, "/outcome/result/success"), success ? "true" : "false");
      EXPECT_EQ(text_at(record, "/outcome/result/output"), answer->result.output);
      if (!path.text.empty()) EXPECT_EQ(answer->result.output, path.text);
    } else {
      EXPECT_EQ(text_at(record, "/outcome/reason"), path.text);
      EXPECT_EQ(text_at(record, "/post_invocation"), "null");
      EXPECT_TRUE(governed.upstream->calls.empty());
      // AT-27: a result, not an error, reports what shadow did not run.
      EXPECT_EQ(answer->result.success, path.text.starts_with("shadow:"));
    }
  }
}

// AU-24 AU-32 AU-33 AU-34
TEST(AuditOutcomeTest, EveryPathHasOneTerminalRecordAndItIsTheLast) {
  for (const Path& path : all_paths()) {
    SCOPED_TRACE(path.name);
    Governed governed;
    const Result<Answer> answer = path.walk(governed);
    ASSERT_TRUE(answer);
    std::vector<std::string> records;
    for (const Draft& draft : governed.recorder.records()) {
      EXPECT_EQ(draft.subject->call_id, answer->call_id);
      records.push_back(draft.outcome + " " + text_at(draft, "/terminal"));
    }
    const std::string last = path.outcome + " true";
    const bool asked = place_of(governed, Kind::Approval) != SIZE_MAX;
    EXPECT_EQ(records, asked ? (std::vector<std::string>{"requires_confirmation false", last})
                             : std::vector<std::string>{last});
    EXPECT_TRUE(governed.recorder.owed.empty());
    EXPECT_EQ(governed.recorder.facts("open_call")->size(), 0u);
  }
}

// AU-35 AU-36 AU-38
TEST(AuditOutcomeTest, AnExecutionHasItsIntentAndTwoEventsInTheRightCommits) {
  for (const Path& path : paths_that_run()) {
    SCOPED_TRACE(path.name);
    Governed governed;
    ASSERT_TRUE(path.walk(governed));
    const auto& commit_of = governed.recorder.commit_of;
    const std::size_t intent = place_of(governed, Kind::Intent);
    const std::size_t started = place_of(governed, Kind::Event, "tool_execution_started");
    const std::size_t finished = place_of(governed, Kind::Event, "tool_execution_finished");
    // A late answer comes after it.
    std::size_t record = governed.recorder.written.size() - 1;
    while (governed.recorder.written[record].topic == "late_results") --record;
    ASSERT_NE(intent, SIZE_MAX);
    ASSERT_NE(started, SIZE_MAX);
    ASSERT_NE(finished, SIZE_MAX);
    ASSERT_EQ(governed.recorder.written[record].kind, Kind::ToolAudit);
    EXPECT_EQ(commit_of[started], commit_of[intent]);
    EXPECT_EQ(commit_of[finished], commit_of[record]);
    EXPECT_LT(commit_of[intent], commit_of[record]) << "what may have an effect says so first";
    EXPECT_LT(finished, record);
    EXPECT_EQ(std::ranges::count(governed.recorder.events(), "tool_execution_started"), 1);
    EXPECT_EQ(std::ranges::count(governed.recorder.events(), "tool_execution_finished"), 1);
  }
}

// AU-35
TEST(AuditOutcomeTest, WhereTheIntentMayComeLateItStillStandsBeforeTheOutcome) {
  using enum IntentDurability;
  for (const IntentDurability durability : {Strict, Effect, Relaxed}) {
    for (const Tier tier : {Tier::Observe, Tier::Confirm}) {
      Governed governed;
      governed.plan.durability(durability).tool("", "read_file", {tier, "none"});
      ASSERT_TRUE(plain(governed));
      EXPECT_LT(place_of(governed, Kind::Intent), place_of(governed, Kind::ToolAudit));
      const bool first = durability == Strict || (durability == Effect && tier == Tier::Confirm);
      EXPECT_EQ(governed.recorder.commits, first ? 2u : 1u)
          << to_string(durability) << " " << to_string(tier);
    }
  }
}

// AU-34 (partly): `relaxed` gives up only the wait for the disk.
TEST(AuditOutcomeTest, OnlyARelaxedCallThatNobodyApprovedDoesNotWaitForTheDisk) {
  using enum IntentDurability;
  for (const IntentDurability durability : {Strict, Effect, Relaxed}) {
    for (const bool asks : {false, true}) {
      Governed governed;
      governed.plan.durability(durability)
          .autonomy(asks ? Autonomy::ActWithApproval : Autonomy::ActAuto)
          .tool("", "read_file", {Tier::Confirm, "none"});
      governed.approver = std::make_shared<FunctionApprover>(
          [](const Question&) { return Reply::approve("user:ada"); });
      ASSERT_TRUE(plain(governed));
      const bool waits = durability != Relaxed || asks;
      EXPECT_TRUE(
          std::ranges::all_of(governed.recorder.written,
                              [&](const Draft& draft) { return draft.waits_for_disk == waits; }))
          << to_string(durability) << (asks ? ", asked" : "");
    }
  }
}

// AU-29 AU-31
TEST(AuditOutcomeTest, TheRecordHoldsWhatWasReleasedAndNotWhatCame) {
  for (const bool withheld : {false, true}) {
    Governed governed;
    governed.plan.result_guard(std::make_shared<FunctionResultGuard>(
        "mask", [withheld](const Envelope&, const ResultContext&) {
          if (withheld) return Verdict::deny("holds a key");
          return Verdict::rewrite(Envelope::of("masked").to_json());
        }));
    governed.upstream = answers(Envelope::of("raw key material"));
    const Result<Answer> answer = plain(governed);
    ASSERT_TRUE(answer);
    const Draft record = governed.recorder.records().back();
    EXPECT_EQ(answer->result.success, !withheld);
    EXPECT_EQ(text_at(record, "/outcome/result/output"), answer->result.output);
    EXPECT_EQ(answer->result.output.find("raw key"), std::string::npos);
    EXPECT_EQ(text_at(record, "/outcome").find("raw key"), std::string::npos);
    EXPECT_EQ(text_at(record, "/effect_state"), "done");
    for (const Draft& event : governed.recorder.of(Kind::Event)) {
      EXPECT_EQ(canonical_json(event.body.members()).find("raw key"), std::string::npos);
    }
  }
}

// AU-20
TEST(AuditOutcomeTest, ALongOutputIsCutInTheRecordAndWholeInAnArtifact) {
  std::string lines;
  for (int i = 0; i < 2500; ++i) lines += "line\n";
  std::string umlauts;
  while (umlauts.size() < 60 * 1024) umlauts += "aä";
  for (const std::string& output : {lines, umlauts}) {
    Governed governed;
    governed.upstream = answers(Envelope::of(json::value(output)));
    const Result<Answer> answer = plain(governed);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->result.output, output) << "the caller gets all of it";
    const Draft record = governed.recorder.records().back();
    const std::string kept = text_at(record, "/outcome/result/output");
    EXPECT_LE(kept.size(), 50u * 1024);
    EXPECT_LE(std::ranges::count(kept, '\n'), 2000);
    EXPECT_GT(kept.size(), 9000u);
    EXPECT_TRUE(output.starts_with(kept));
    EXPECT_TRUE(check_json(json::value(kept)));
    const auto artifacts = governed.recorder.of(Kind::Topic);
    ASSERT_EQ(artifacts.size(), 1u);
    EXPECT_EQ(artifacts[0].topic, "artifacts");
    EXPECT_EQ(text_at(artifacts[0], "/text"), output);
    EXPECT_EQ(text_at(record, "/outcome/result/artifact/id"),
              text_at(artifacts[0], "/artifact_id"));
    EXPECT_EQ(artifacts[0].subject->call_id, answer->call_id);
  }
  Governed governed;
  governed.upstream = answers(Envelope::of(json::value(std::string(50 * 1024, 'x'))));
  ASSERT_TRUE(plain(governed));
  EXPECT_TRUE(governed.recorder.of(Kind::Topic).empty());
}

}  // namespace
}  // namespace sallyport::core
