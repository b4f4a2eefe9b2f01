#include "core/event/hook_registry.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"
#include "support/pause.h"
#include "support/test_clock.h"

namespace sallyport::core {
namespace {

using test::FunctionGuard;
using test::FunctionHook;
using test::Governed;
using Names = std::vector<std::string>;

const Event kEvent = event::RecoveryPrepared{"instance-1"};

// Never returns by itself.
class SilentHook final : public EventHook {
 public:
  const std::string& name() const override { return name_; }
  bool waits() const override { return true; }
  Task<HookRows> on_event(const Event&, const Subject&) const override {
    co_await test::pause(std::chrono::hours(1));
    co_return HookRows{};
  }

 private:
  std::string name_ = "silent";
};

class SecretRedactor final : public Redactor {
 public:
  std::vector<Removal> redact(std::string_view, json::value& value) const override {
    if (throws) throw std::runtime_error("cannot read this");
    if (!replace(value)) return {};
    return {{.category = "secret", .removed = "hunter2"}};
  }
  bool redact_identifier(std::string&) const override { return false; }
  bool throws = false;

 private:
  static bool replace(json::value& value) {
    bool replaced = false;
    if (value.is_object()) {
      for (auto& member : value.get_object()) replaced |= replace(member.value());
    }
    if (!value.is_string()) return replaced;
    std::string text(value.get_string());
    const std::size_t at = text.find("hunter2");
    if (at == std::string::npos) return false;
    value = text.replace(at, 7, "[REDACTED:secret]");
    return true;
  }
};

class HookRegistryTest : public testing::Test {
 protected:
  std::shared_ptr<FunctionHook> hook(std::string name, Result<void> answer = {}) {
    return std::make_shared<FunctionHook>(
        name, [this, name, answer](const Event&, const Subject&) -> Result<void> {
          called.push_back(name);
          return answer;
        });
  }
  std::shared_ptr<FunctionHook> broken(std::string name) {
    return std::make_shared<FunctionHook>(
        name, [this, name](const Event&, const Subject&) -> Result<void> {
          called.push_back(name);
          throw std::runtime_error("secret detail");
        });
  }
  std::vector<HookRegistry::Failure> tell() {
    return test::run_now(registry.notify(kEvent, {}, {}, clock)).failures;
  }

  SystemClock clock;
  HookRegistry registry;
  Names called;
};

// EV-55
TEST_F(HookRegistryTest, HooksAreCalledInTheOrderOfTheirRegistration) {
  EXPECT_TRUE(tell().empty());
  ASSERT_TRUE(registry.with_hook(hook("b")));
  ASSERT_TRUE(registry.with_hook(hook("a")));
  EXPECT_TRUE(tell().empty());
  EXPECT_EQ(called, (Names{"b", "a"}));
}

// EV-56
TEST_F(HookRegistryTest, RegisteringMoreNeitherReplacesNorDropsWhatWasThere) {
  ASSERT_TRUE(registry.with_hook(hook("a")));
  ASSERT_TRUE(registry.extend({hook("c"), hook("b")}));
  ASSERT_TRUE(registry.with_hook(hook("d")));
  EXPECT_EQ(registry.size(), 4u);
  tell();
  EXPECT_EQ(called, (Names{"a", "c", "b", "d"}));
}

// EV-113
TEST_F(HookRegistryTest, AnEmptyOrATakenNameIsRefused) {
  ASSERT_TRUE(registry.with_hook(hook("a")));
  const Result<void> taken = registry.with_hook(hook("a"));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(taken.error().message, "hook name `a` is taken");
  const Result<void> empty = registry.extend({hook("")});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "hook name `` is empty");
  EXPECT_EQ(registry.size(), 1u);
}

// EV-58
TEST_F(HookRegistryTest, AHookThatErrsThrowsOrTakesTooLongDoesNotKeepTheOthersFromHearing) {
  HookRegistry quick(std::chrono::milliseconds(20));
  ASSERT_TRUE(quick.extend({hook("errs", fail(ErrorCode::Internal, "no space")), broken("throws"),
                            std::make_shared<SilentHook>(), hook("last")}));
  const std::vector<HookRegistry::Failure> failures =
      test::run_now(quick.notify(kEvent, {}, {}, clock)).failures;
  ASSERT_EQ(failures.size(), 3u);
  EXPECT_EQ(failures[0].hook + ": " + failures[0].error, "errs: no space");
  EXPECT_EQ(failures[1].hook + ": " + failures[1].error, "throws: exception");
  EXPECT_EQ(failures[2].hook + ": " + failures[2].error, "silent: timeout");
  EXPECT_EQ(called, (Names{"errs", "throws", "last"}));
}

// EV-58
TEST_F(HookRegistryTest, AHookThatComesBackTooLateHasFailed) {
  test::TestClock slow;
  HookRegistry standard;
  std::chrono::milliseconds took{5000};
  ASSERT_TRUE(standard.with_hook(
      std::make_shared<FunctionHook>("slow", [&](const Event&, const Subject&) -> Result<void> {
        slow.advance(took);
        return {};
      })));
  EXPECT_TRUE(test::run_now(standard.notify(kEvent, {}, {}, slow)).failures.empty());
  took = std::chrono::milliseconds(5001);
  const auto failures = test::run_now(standard.notify(kEvent, {}, {}, slow)).failures;
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].error, "timeout");
}

// EV-58 EV-60
TEST_F(HookRegistryTest, TheErrorOfAnAnnouncementNamesEveryHookThatFailed) {
  Governed governed;
  ASSERT_TRUE(governed.hooks.extend(
      {hook("one", fail(ErrorCode::Internal, "x")), hook("two"), broken("three")}));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcome, Outcome::blocked("event sink failed: one, three"));
  EXPECT_EQ(answer->result.output.find("secret detail"), std::string::npos);
}

// EV-57 EV-59
TEST_F(HookRegistryTest, TheLedgerHasAnEventBeforeAnyHookHearsOfIt) {
  Governed governed;
  std::vector<std::size_t> written;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "audit", [&](const Event& event, const Subject&) -> Result<void> {
        if (event_type(event).starts_with("tool_execution")) {
          written.push_back(governed.recorder.of(Kind::Event).size());
        }
        return {};
      })));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  EXPECT_EQ(written, (std::vector<std::size_t>{3, 4}));
}

// EV-61
TEST_F(HookRegistryTest, AFailureOnAReportChangesNothingAndIsRecorded) {
  Governed governed;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "siem", [](const Event& event, const Subject&) -> Result<void> {
        if (announces(event)) return {};
        return fail(ErrorCode::Unavailable, "connection refused");
      })));
  const Result<Answer> answer = governed.call(Governed::read_file());
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->result.success);
  Names failed;
  for (const Draft& draft : governed.recorder.of(Kind::HookFailed)) {
    EXPECT_EQ(draft.subject->call_id, answer->call_id);
    failed.push_back(canonical_json(draft.body.members()));
  }
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_EQ(failed[0], R"({"error":"connection refused","event_sequence":null,)"
                       R"("event_type":"tool_authorization_finished","hook":"siem",)"
                       R"("record":"hook_failed"})");
  // The first was notified before its row had a position, the second after its commit.
  const Draft last = governed.recorder.of(Kind::HookFailed).back();
  EXPECT_EQ(test::text_at(last, "/event_type"), "tool_execution_finished");
  const std::uint64_t sequence = std::stoull(test::text_at(last, "/event_sequence"));
  EXPECT_EQ(test::text_at(governed.recorder.written.at(sequence), "/kind"),
            "tool_execution_finished");
}

// EV-63 (partly)
TEST_F(HookRegistryTest, AHookHearsTheEventsOfACallInTheOrderOfTheLedger) {
  Governed governed;
  Names heard;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "watch", [&](const Event& event, const Subject& subject) -> Result<void> {
        EXPECT_EQ(subject.session_id, "s-1");
        EXPECT_FALSE(subject.call_id.empty());
        heard.push_back(canonical_json(to_json(event)));
        return {};
      })));
  ASSERT_TRUE(governed.call(Governed::read_file()));
  Names rows;
  for (const Draft& draft : governed.recorder.of(Kind::Event)) {
    rows.push_back(canonical_json(draft.body.members()));
  }
  EXPECT_EQ(heard, rows);
}

// EV-8
TEST_F(HookRegistryTest, HooksSeeRedactedEventsAndGuardsSeeTheRealInput) {
  Governed governed;
  SecretRedactor redactor;
  governed.redactor = &redactor;
  bool guard_saw = false;
  governed.plan.guard(std::make_shared<FunctionGuard>("look", [&](const Call& call) {
    guard_saw = call.input.at("password") == json::value("hunter2");
    return Verdict::allow();
  }));
  governed.upstream =
      std::make_shared<test::FakeUpstream>([](Call call, std::stop_token) -> Task<Envelope> {
        co_return Envelope::of({{"echo", call.input.at("password")}});
      });
  std::string heard;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "siem", [&](const Event& event, const Subject&) -> Result<void> {
        heard += canonical_json(to_json(event));
        return {};
      })));
  Call call = Governed::read_file();
  call.input = {{"password", "hunter2"}};
  const Result<Answer> answer = governed.call(call);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(guard_saw);
  EXPECT_EQ(canonical_json(answer->result.data), R"({"echo":"hunter2"})");
  EXPECT_EQ(heard.find("hunter2"), std::string::npos);
  EXPECT_NE(heard.find(R"("raw_input":{"password":"[REDACTED:secret]"})"), std::string::npos);
  EXPECT_NE(heard.find(R"({\"echo\":\"[REDACTED:secret]\"})"), std::string::npos);
}

// EV-8
TEST_F(HookRegistryTest, WhatCannotBeRedactedIsNotShown) {
  Governed governed;
  SecretRedactor redactor;
  redactor.throws = true;
  governed.redactor = &redactor;
  std::string heard;
  ASSERT_TRUE(governed.hooks.with_hook(std::make_shared<FunctionHook>(
      "siem", [&](const Event& event, const Subject&) -> Result<void> {
        heard += canonical_json(to_json(event));
        return {};
      })));
  Call call = Governed::read_file();
  call.input = {{"password", "hunter2"}};
  (void)governed.call(call);
  EXPECT_EQ(heard.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::core
