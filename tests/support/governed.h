// A Governor with fakes around it, and a loop that runs one call to its end.
#pragma once

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "core/call/governor.h"
#include "support/fake_recorder.h"

namespace sallyport::test {

// Runs a coroutine to its end on a loop of its own.
template <class T>
T run_now(Async<T> work) {
  boost::asio::io_context loop;
  std::optional<T> answer;
  boost::asio::co_spawn(loop, std::move(work),
                        [&](std::exception_ptr thrown, std::optional<T> value) {
                          if (thrown) std::rethrow_exception(thrown);
                          answer = std::move(value);
                        });
  loop.run();
  return std::move(*answer);
}

class FunctionGuard final : public core::Guard {
 public:
  using Judge = std::function<Result<Verdict>(const Call&)>;
  FunctionGuard(std::string name, Judge judge, core::Stage stage = core::Stage::ToolUse)
      : judge_(std::move(judge)) {
    traits_.name = std::move(name);
    traits_.stage = stage;
  }
  const core::GuardTraits& traits() const override { return traits_; }
  core::GuardTraits& mutable_traits() { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext&) const override {
    co_return judge_(call);
  }

 private:
  core::GuardTraits traits_;
  Judge judge_;
};

class FunctionResultGuard final : public core::ResultGuard {
 public:
  using Judge = std::function<Result<Verdict>(const Envelope&, const ResultContext&)>;
  FunctionResultGuard(std::string name, Judge judge) : judge_(std::move(judge)) {
    traits_.name = std::move(name);
  }
  const core::GuardTraits& traits() const override { return traits_; }
  core::GuardTraits& mutable_traits() { return traits_; }
  Task<Verdict> judge(const Envelope& envelope, const ResultContext& context) const override {
    co_return judge_(envelope, context);
  }

 private:
  core::GuardTraits traits_;
  Judge judge_;
};

class FunctionHook final : public core::EventHook {
 public:
  using Hear = std::function<Result<void>(const Event&, const Subject&)>;
  FunctionHook(std::string name, Hear hear) : name_(std::move(name)), hear_(std::move(hear)) {}
  const std::string& name() const override { return name_; }
  Task<core::HookRows> on_event(const Event& event, const Subject& subject) const override {
    const Result<void> heard = hear_(event, subject);
    if (!heard) co_return std::unexpected(heard.error());
    co_return core::HookRows{};
  }

 private:
  std::string name_;
  Hear hear_;
};

class FakeUpstream final : public core::Upstream {
 public:
  using Answer =
      std::function<Task<Envelope>(Call, std::shared_ptr<core::Delivery>, std::stop_token)>;
  using Simple = std::function<Task<Envelope>(Call, std::stop_token)>;
  FakeUpstream() = default;
  explicit FakeUpstream(Answer answer) : answer_(std::move(answer)) {}
  explicit FakeUpstream(Simple simple) : simple_(std::move(simple)) {}

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override {
    calls.push_back(call);
    if (answer_) co_return co_await answer_(std::move(call), std::move(delivery), cancel);
    if (simple_) co_return co_await simple_(std::move(call), cancel);
    co_return Envelope::of({{"answer", 42}});
  }

  std::vector<Call> calls;

 private:
  Answer answer_;
  Simple simple_;
};

// A tool with a prepare step. Without `next` it is ready at once with `prepared`.
class FakePreparer final : public core::PreparingUpstream {
 public:
  using Next = std::function<Task<std::optional<core::PrepareStep>>(unsigned step)>;
  Prepared prepared{.operation_id = "op-1", .revision = 3, .snapshot = {{"amount", 40}}};
  Next next;
  FakeUpstream::Simple execute;
  bool outlives = false;

  std::vector<Call> preparations;
  std::vector<std::string> cancelled;
  std::vector<Call> calls;

  std::shared_ptr<core::Preparation> prepare(Call call, std::stop_token) override {
    preparations.push_back(std::move(call));
    return std::make_shared<Steps>(next ? next : ready());
  }
  void cancel(std::string operation_id) override { cancelled.push_back(std::move(operation_id)); }
  bool outlives_process() const override { return outlives; }

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery>,
                        std::stop_token cancel) override {
    calls.push_back(call);
    if (execute) co_return co_await execute(std::move(call), cancel);
    co_return Envelope::of("executed");
  }

 private:
  class Steps final : public core::Preparation {
   public:
    explicit Steps(Next next) : next_(std::move(next)) {}
    Task<std::optional<core::PrepareStep>> next() override { co_return co_await next_(++steps_); }

   private:
    Next next_;
    unsigned steps_ = 0;
  };

  Next ready() const {
    return [made = prepared](unsigned) -> Task<std::optional<core::PrepareStep>> {
      co_return core::PrepareStep{.kind = core::PrepareStep::Kind::Ready, .prepared = made};
    };
  }
};

class FunctionApprover final : public core::Approver {
 public:
  using Decide = std::function<Result<Reply>(const Question&)>;
  explicit FunctionApprover(Decide decide) : decide_(std::move(decide)) {}
  Task<Reply> answer(Question question) const override { co_return decide_(question); }

 private:
  Decide decide_;
};

class FunctionSink final : public core::Sink {
 public:
  using Take = std::function<Result<void>(const AuditRecord&)>;
  FunctionSink(std::string name, Take take) : name_(std::move(name)), take_(std::move(take)) {}
  const std::string& name() const override { return name_; }
  Task<void> take(const AuditRecord& record) const override { co_return take_(record); }

 private:
  std::string name_;
  Take take_;
};

// The current plan, until a test replaces it.
class ChangingPlan final : public core::PlanSource {
 public:
  explicit ChangingPlan(std::shared_ptr<const core::Plan> plan) : plan_(std::move(plan)) {}
  std::shared_ptr<const core::Plan> current() const override { return plan_.load(); }
  void change(std::shared_ptr<const core::Plan> plan) { plan_.store(std::move(plan)); }

 private:
  std::atomic<std::shared_ptr<const core::Plan>> plan_;
};

class Governed {
 public:
  core::PlanBuilder plan = core::PlanBuilder().autonomy(Autonomy::ActAuto);
  FakeRecorder recorder;
  core::HookRegistry hooks;
  std::vector<std::shared_ptr<const core::Sink>> sinks;
  std::shared_ptr<const core::Approver> approver;
  core::FailOpenLog::Log log;
  std::shared_ptr<core::Upstream> tool;  // used instead of `upstream`, if a test needs another tool
  std::shared_ptr<FakeUpstream> upstream = std::make_shared<FakeUpstream>();
  const Clock* clock = &system_clock_;
  const core::Redactor* redactor = &no_redactor_;

  Result<Answer> call(Call call, std::stop_token cancel = {}) {
    return this->call(std::move(call), core::Caller{.cancel = std::move(cancel)});
  }

  Result<Answer> call(Call call, core::Caller caller) {
    const Result<void> built = build();
    if (!built) return std::unexpected(built.error());
    return run_now(governor_->run(std::move(call), tool ? tool : upstream, std::move(caller)));
  }

  Result<void> build() {
    if (governor_) return {};
    if (!plans_) {
      auto built = plan.build();
      if (!built) return std::unexpected(built.error());
      plans_.emplace(*built);
    }
    governor_.emplace(core::Governor::Parts{*plans_, recorder, *redactor, *clock, entropy_,
                                            KeyedDigest("k"), hooks, sinks, approver, log});
    return {};
  }

  // Reloads: calls that begin or are decided again from now on use this plan.
  void change_plan(core::PlanBuilder builder) {
    (void)build();
    plans_->change(*builder.build());
  }

  // Starts another process on the same records, or restarts this one; the plan stays.
  void restart() { governor_.reset(); }
  void restart(core::PlanBuilder other) {
    governor_.reset();
    plans_.reset();
    plan = std::move(other);
  }

  core::Governor& governor() {
    (void)build();
    return *governor_;
  }

  static Call read_file() {
    return {.tool_call_id = "toolu_1",
            .agent_id = "agent:a",
            .session_id = "s-1",
            .tool = "read_file",
            .input = {{"path", "/tmp/x"}}};
  }

 private:
  SystemClock system_clock_;
  SystemEntropy entropy_;
  core::NoRedactor no_redactor_;
  std::optional<ChangingPlan> plans_;
  std::optional<core::Governor> governor_;
};

}  // namespace sallyport::test
