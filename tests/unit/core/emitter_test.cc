#include "core/event/emitter.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/pause.h"
#include "unit/core/event_samples.h"

namespace sallyport::core {
namespace {

using test::FakeRecorder;
using test::FunctionHook;

const Event kAnnounces = event::RecoveryPrepared{"instance-1"};
const Event kReports = event::PolicyDenied{"agent:a", "read_file", "no"};

class EmitterTest : public testing::Test {
 protected:
  Result<void> emit(Event event) {
    Emitter emitter({recorder, redactor, clock, hooks});
    return test::run_now(emitter.emit(std::move(event), subject));
  }
  void hook(std::string name, Result<void> answer) {
    ASSERT_TRUE(hooks.with_hook(std::make_shared<FunctionHook>(
        std::move(name), [this, answer](const Event&, const Subject&) {
          ++heard;
          return answer;
        })));
  }

  FakeRecorder recorder;
  NoRedactor redactor;
  SystemClock clock;
  HookRegistry hooks;
  Subject subject{.call_id = "call-1", .session_id = "s-1"};
  int heard = 0;
};

// EV-77 (partly)
TEST_F(EmitterTest, EachEventIsExactlyOneRowWithItselfAsPayload) {
  hook("watch", {});
  std::size_t rows = 0;
  for (const test::EventSample& sample : test::kEventSamples) {
    const Result<Event> event = event_from_json(parse_json(sample.text)->value.as_object());
    ASSERT_TRUE(event);
    ASSERT_TRUE(emit(*event));
    ASSERT_EQ(recorder.written.size(), ++rows);
    const Draft& row = recorder.written.back();
    EXPECT_EQ(row.kind, Kind::Event);
    EXPECT_EQ(row.body.at("kind"), json::value(event_type(*event)));
    EXPECT_EQ(canonical_json(row.body.members()), sample.text);
    EXPECT_EQ(row.subject, SharedSubject(subject));
  }
  EXPECT_EQ(rows, 22u);
  EXPECT_EQ(heard, 22);
}

// EV-55
TEST_F(EmitterTest, WithoutHooksAnEventIsWrittenAndThatIsAll) {
  EXPECT_TRUE(emit(kAnnounces));
  EXPECT_TRUE(emit(kReports));
  EXPECT_EQ(recorder.written.size(), 2u);
}

// EV-78 EV-59
TEST_F(EmitterTest, AnAnnouncementThatCannotBeWrittenIsAnErrorAndWasNotMade) {
  hook("watch", {});
  recorder.refuse_announcements = Error{ErrorCode::Unavailable, "disk full"};
  const Result<void> emitted = emit(kAnnounces);
  ASSERT_FALSE(emitted);
  EXPECT_EQ(emitted.error().cause, "store");
  EXPECT_EQ(emitted.error().message, "event sink failed: audit: disk full");
  EXPECT_EQ(heard, 0);
  EXPECT_TRUE(recorder.owed.empty());
}

// EV-78 EV-62 (partly)
TEST_F(EmitterTest, AReportThatCannotBeWrittenIsAnErrorAndIsOwed) {
  recorder.refuse_reports = Error{ErrorCode::Unavailable, "disk full"};
  const Result<void> first = emit(kReports);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().cause, "store");
  (void)emit(event::PolicyDenied{"agent:a", "read_file", "second"});
  ASSERT_EQ(recorder.owed.size(), 2u);
  EXPECT_EQ(recorder.owed[0].body.at("reason"), "no");
  EXPECT_EQ(recorder.owed[1].body.at("reason"), "second");
  EXPECT_EQ(recorder.owed[0].subject, SharedSubject(subject));
}

// EV-78: none of it is owed, because it cannot be written later either.
TEST_F(EmitterTest, AReportThatDoesNotFitTheRecordsIsAnErrorAsItIs) {
  for (const ErrorCode code : {ErrorCode::Conflict, ErrorCode::InvalidInput}) {
    recorder.refuse_reports = Error{code, "unfit"};
    const Result<void> emitted = emit(kReports);
    ASSERT_FALSE(emitted);
    EXPECT_EQ(emitted.error().code, code);
    EXPECT_EQ(emitted.error().message, "unfit");
    EXPECT_TRUE(recorder.owed.empty());
  }
}

// EV-78: a change of facts that finds them exhausted is refused permanently; a full store is not.
TEST_F(EmitterTest, AReportThatExhaustsABudgetIsNotOwed) {
  class Nothing final : public FactChange {
   public:
    Result<std::vector<Fact>> facts(const Stored&) const override { return std::vector<Fact>{}; }
  };
  recorder.refuse_reports = Error{ErrorCode::Exhausted, "spent"};
  Emitter emitter({recorder, redactor, clock, hooks});
  const Result<void> spent =
      test::run_now(emitter.emit(kReports, subject, {}, {}, {std::make_shared<const Nothing>()}));
  ASSERT_FALSE(spent);
  EXPECT_EQ(spent.error().message, "spent");
  EXPECT_TRUE(recorder.owed.empty());
  EXPECT_EQ(emit(kReports).error().cause, "store");
  EXPECT_EQ(recorder.owed.size(), 1u);
}

// EV-58 EV-60
TEST_F(EmitterTest, AHookThatFailsOnAnAnnouncementStopsItByName) {
  hook("one", fail(ErrorCode::Internal, "x"));
  hook("two", {});
  hook("three", fail(ErrorCode::Internal, "y"));
  const Result<void> emitted = emit(kAnnounces);
  ASSERT_FALSE(emitted);
  EXPECT_EQ(emitted.error().message, "event sink failed: one, three");
  EXPECT_EQ(heard, 3);
  EXPECT_TRUE(recorder.of(Kind::HookFailed).empty());
}

// EV-61
TEST_F(EmitterTest, AHookThatFailsOnAReportIsRecordedWithTheSequenceOfTheEvent) {
  hook("siem", fail(ErrorCode::Unavailable, "connection refused"));
  ASSERT_TRUE(emit(event::PolicyDenied{"agent:a", "other", "first"}));
  ASSERT_TRUE(emit(kReports));
  ASSERT_EQ(recorder.written.size(), 4u);
  EXPECT_EQ(recorder.written[3].kind, Kind::HookFailed);
  EXPECT_EQ(canonical_json(recorder.written[3].body.members()),
            R"({"error":"connection refused","event_sequence":2,"event_type":"policy_denied",)"
            R"("hook":"siem","record":"hook_failed"})");
}

// EV-8: names stay unchanged, even if a detector matches them.
TEST_F(EmitterTest, HooksHearAnEventWithoutSecretsAndWithItsIds) {
  class Everything final : public Redactor {
   public:
    std::vector<Removal> redact(std::string_view, json::value& value) const override {
      if (value.is_string()) value = "gone";
      return {{"", "secret", "x"}};
    }
    bool redact_identifier(std::string&) const override { return false; }
  };
  std::vector<std::string> told;
  ASSERT_TRUE(hooks.with_hook(
      std::make_shared<FunctionHook>("watch", [&](const Event& event, const Subject&) {
        told.push_back(canonical_json(to_json(event)));
        return Result<void>{};
      })));
  const Everything takes_all;
  Emitter emitter({recorder, takes_all, clock, hooks});
  ASSERT_TRUE(test::run_now(emitter.emit(kReports, subject)));
  EXPECT_EQ(told, std::vector<std::string>{R"({"agent_id":"agent:a","kind":"policy_denied",)"
                                           R"("reason":"gone","tool_name":"gone"})"});
}

// EV-8: a client may choose a session name, and so could put a secret into it.
TEST_F(EmitterTest, HooksSeeNamesWithoutTheSecretsInThem) {
  class Names final : public Redactor {
   public:
    std::vector<Removal> redact(std::string_view, json::value&) const override { return {}; }
    bool redact_identifier(std::string& text) const override {
      if (text == "unreadable") throw std::runtime_error("no text");
      return std::exchange(text, text == "secret" ? "gone" : text) != text;
    }
  };
  std::vector<std::string> seen;
  ASSERT_TRUE(hooks.with_hook(
      std::make_shared<FunctionHook>("watch", [&](const Event& event, const Subject& names) {
        const json::object row = to_json(event);
        seen = {names.session_id, names.tool_name, names.agent_id,
                std::string(row.at("agent_id").as_string())};
        return Result<void>{};
      })));
  const Names takes_names;
  Emitter emitter({recorder, takes_names, clock, hooks});
  ASSERT_TRUE(test::run_now(emitter.emit(
      event::PolicyDenied{"secret", "other", "first"},
      Subject{.session_id = "secret", .agent_id = "agent:a", .tool_name = "unreadable"})));
  EXPECT_EQ(seen, (std::vector<std::string>{"gone", "[REDACTED:unreadable]", "agent:a", "gone"}));
}

// A hook selects calls by their real names, which it does not see.
TEST_F(EmitterTest, AHookSelectsByTheNamesThatTheClientGave) {
  class Picky final : public EventHook {
   public:
    const std::string& name() const override { return name_; }
    bool wants(const Subject& names) const override { return names.tool_name == "secret"; }
    Task<HookRows> on_event(const Event&, const Subject& names) const override {
      seen.push_back(names.tool_name);
      co_return HookRows{};
    }
    mutable std::vector<std::string> seen;

   private:
    std::string name_ = "picky";
  };
  class Names final : public Redactor {
   public:
    std::vector<Removal> redact(std::string_view, json::value&) const override { return {}; }
    bool redact_identifier(std::string& text) const override {
      return std::exchange(text, "gone") != text;
    }
  };
  const auto picky = std::make_shared<Picky>();
  ASSERT_TRUE(hooks.with_hook(picky));
  const Names takes_names;
  Emitter emitter({recorder, takes_names, clock, hooks});
  ASSERT_TRUE(test::run_now(emitter.emit(kReports, Subject{.tool_name = "secret"})));
  ASSERT_TRUE(test::run_now(emitter.emit(kReports, Subject{.tool_name = "other"})));
  EXPECT_EQ(picky->seen, std::vector<std::string>{"gone"});
}

class MayFail final : public EventHook {
 public:
  const std::string& name() const override { return name_; }
  bool fails_open() const override { return true; }
  bool wants(const Subject& names) const override {
    return tool.empty() || names.tool_name == tool;
  }
  Task<HookRows> on_event(const Event& event, const Subject&) const override {
    const bool fails = broken && (only.empty() || event_type(event) == only);
    if (fails) co_return fail(ErrorCode::Unavailable, "down", {}, cause);
    co_return HookRows{};
  }
  bool broken = true;
  std::string only{};  // the event on which it fails; empty: all
  std::string cause{};
  std::string tool{};  // whose events it wants; empty: all

 private:
  std::string name_ = "siem";
};

std::vector<std::string> controls_of(const FakeRecorder& recorder) {
  std::vector<std::string> names;
  for (const Draft& draft : recorder.of(Kind::Control)) {
    names.push_back(test::text_at(draft, "/control"));
  }
  return names;
}

// LE-71 (partly)
TEST_F(EmitterTest, AHookOfThePolicyThatMayFailOpenBracketsItsFailures) {
  test::Governed governed;
  const auto hook = std::make_shared<MayFail>();
  governed.plan.hook(hook);
  Call call = test::Governed::read_file();
  call.session_id.clear();
  ASSERT_TRUE(governed.call(call)->result.success);
  EXPECT_EQ(controls_of(governed.recorder), std::vector<std::string>{"fail_open_started"});
  hook->broken = false;
  ASSERT_TRUE(governed.call(call)->result.success);
  EXPECT_EQ(controls_of(governed.recorder),
            (std::vector<std::string>{"fail_open_started", "fail_open_ended"}));
}

// A `deny` of a listener with `on_error: allow` once counted as a failure: the call ran, and an
// interval of failing open began.
// EV-60
TEST_F(EmitterTest, AHookThatRefusesOnPurposeStopsTheCallAlsoIfItMayFailOpen) {
  for (const char* const event : {"tool_authorization_started", "tool_execution_started"}) {
    test::Governed governed;
    const auto hook = std::make_shared<MayFail>();
    hook->only = event;
    hook->cause = kHookRefuses;
    governed.plan.hook(hook);
    const Result<Answer> answer = governed.call(test::Governed::read_file());
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->result.success) << event;
    EXPECT_TRUE(governed.upstream->calls.empty()) << event;
    EXPECT_EQ(controls_of(governed.recorder), std::vector<std::string>{}) << event;
  }
}

// An interval that ended with the report of a call's end was once forgotten without its end.
// LE-71 (partly)
TEST_F(EmitterTest, AnIntervalOfFailingOpenEndsAlsoWithTheLastEventOfACall) {
  test::Governed governed;
  const auto hook = std::make_shared<MayFail>();
  hook->only = "tool_execution_started";
  governed.plan.hook(hook);
  ASSERT_TRUE(governed.call(test::Governed::read_file())->result.success);
  EXPECT_EQ(controls_of(governed.recorder),
            (std::vector<std::string>{"fail_open_started", "fail_open_ended"}));
  const auto open = governed.recorder.facts("fail_open");
  ASSERT_TRUE(open);
  EXPECT_TRUE(open->empty());
}

TEST_F(EmitterTest, AHookThatDoesNotWantACallEndsNoFailOpenInterval) {
  test::Governed governed;
  const auto hook = std::make_shared<MayFail>();
  hook->tool = "read_file";
  governed.plan.hook(hook);
  Call call = test::Governed::read_file();
  call.session_id.clear();
  ASSERT_TRUE(governed.call(call));
  call.tool = "list_files";
  ASSERT_TRUE(governed.call(call));
  EXPECT_EQ(controls_of(governed.recorder), std::vector<std::string>{"fail_open_started"});
}

// A hook of a plan that became current during a notification once counted as working.
TEST_F(EmitterTest, AHookThatWasNotNotifiedEndsNoFailOpenInterval) {
  test::Governed governed;
  const auto siem = std::make_shared<MayFail>();
  governed.plan.hook(siem);
  Call call = test::Governed::read_file();
  call.session_id.clear();
  ASSERT_TRUE(governed.call(call)->result.success);
  const auto reloads = std::make_shared<FunctionHook>("reloads", [&](const Event&, const Subject&) {
    governed.change_plan(PlanBuilder().autonomy(Autonomy::ActAuto).hook(siem));
    return Result<void>{};
  });
  governed.change_plan(PlanBuilder().autonomy(Autonomy::ActAuto).hook(reloads));
  ASSERT_TRUE(governed.call(call)->result.success);
  EXPECT_EQ(controls_of(governed.recorder), std::vector<std::string>{"fail_open_started"});
}

// Hooks of the policy once had the default time limit, regardless of the host's limit.
TEST_F(EmitterTest, AHookOfThePolicyHasTheTimeLimitOfTheHost) {
  class Slow final : public EventHook {
   public:
    const std::string& name() const override { return name_; }
    bool waits() const override { return true; }
    Task<HookRows> on_event(const Event&, const Subject&) const override {
      co_await test::pause(std::chrono::milliseconds(500));
      co_return HookRows{};
    }

   private:
    std::string name_ = "slow";
  };
  test::Governed governed;
  governed.hooks = HookRegistry(std::chrono::milliseconds(10));
  governed.plan.hook(std::make_shared<Slow>());
  const Result<Answer> answer = governed.call(test::Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("event sink failed: slow"));
}

// EV-60 EV-14 (partly)
TEST_F(EmitterTest, AStartThatAHookRefusesIsAnErrorOfTheGovernor) {
  test::Governed governed;
  ASSERT_TRUE(governed.hooks.with_hook(
      std::make_shared<FunctionHook>("siem", [](const Event&, const Subject&) -> Result<void> {
        return fail(ErrorCode::Internal, "not today");
      })));
  const Result<void> started = test::run_now(governed.governor().start());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "event sink failed: siem");
  EXPECT_EQ(started.error().where, "") << "the message names the hook";
  EXPECT_EQ(started.error().cause, kStartRefused);
  EXPECT_EQ(governed.recorder.events(), std::vector<std::string>{"recovery_prepared"});
}

}  // namespace
}  // namespace sallyport::core
