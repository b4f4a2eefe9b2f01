#include "core/event/emitter.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
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

// EV-78: nothing of it is owed, since it cannot be written later either.
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

// EV-78: a change of facts that finds them exhausted is refused for good; a full store is not.
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

// EV-8: the names of things stay, whatever a detector takes them for.
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

// LE-71 (partly)
TEST_F(EmitterTest, AHookOfThePolicyThatMayFailOpenBracketsItsFailures) {
  class MayFail final : public EventHook {
   public:
    const std::string& name() const override { return name_; }
    bool fails_open() const override { return true; }
    Task<HookRows> hear(const Event&, const Subject&) const override {
      if (broken) co_return fail(ErrorCode::Unavailable, "down");
      co_return HookRows{};
    }
    bool broken = true;

   private:
    std::string name_ = "siem";
  };
  test::Governed governed;
  const auto hook = std::make_shared<MayFail>();
  governed.plan.hook(hook);
  const auto controls = [&] {
    std::vector<std::string> names;
    for (const Draft& draft : governed.recorder.of(Kind::Control)) {
      names.push_back(test::text_at(draft, "/control"));
    }
    return names;
  };
  Call call = test::Governed::read_file();
  call.session_id.clear();
  ASSERT_TRUE(governed.call(call)->result.success);
  EXPECT_EQ(controls(), std::vector<std::string>{"fail_open_started"});
  hook->broken = false;
  ASSERT_TRUE(governed.call(call)->result.success);
  EXPECT_EQ(controls(), (std::vector<std::string>{"fail_open_started", "fail_open_ended"}));
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
  EXPECT_EQ(governed.recorder.events(), std::vector<std::string>{"recovery_prepared"});
}

}  // namespace
}  // namespace sallyport::core
