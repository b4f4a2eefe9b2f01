#include "embed/function_parts.h"

#include "base/on_pool.h"
#include "base/race.h"
#include "core/plan/authorizer.h"
#include "core/plan/pre_hook.h"

namespace sallyport::embed {

namespace {

using Pool = boost::asio::thread_pool;

core::GuardTraits traits_of(std::string name, const GuardOptions& options) {
  return {.name = std::move(name),
          .stage = core::Stage::ToolUse,
          .waits = options.waits,
          .limit = options.limit,
          .settings = options.settings};
}

// Calls a function. One that waits runs on the pool, any other directly on this thread.
template <class T, class Function, class... Arguments>
Async<Result<T>> ask(bool waits, Pool& pool, Function function, Arguments... arguments) {
  if (!waits) co_return function(arguments...);
  co_return co_await on_pool<Result<T>>(
      pool, [function = std::move(function), ... given = std::move(arguments)] {
        return function(given...);
      });
}

class FunctionGuard final : public core::Guard {
 public:
  FunctionGuard(core::GuardTraits traits, EngineBuilder::Guard judge, Pool& pool)
      : traits_(std::move(traits)), judge_(std::move(judge)), pool_(pool) {}
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override {
    GuardView view{context.classification, context.pass};
    return ask<Verdict>(traits_.waits, pool_, judge_, call, std::move(view));
  }

 private:
  core::GuardTraits traits_;
  EngineBuilder::Guard judge_;
  Pool& pool_;
};

class FunctionResultGuard final : public core::ResultGuard {
 public:
  FunctionResultGuard(core::GuardTraits traits, EngineBuilder::ResultGuard judge, Pool& pool)
      : traits_(std::move(traits)), judge_(std::move(judge)), pool_(pool) {}
  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override {
    return ask<Verdict>(traits_.waits, pool_, judge_, result, context);
  }

 private:
  core::GuardTraits traits_;
  EngineBuilder::ResultGuard judge_;
  Pool& pool_;
};

constexpr std::chrono::milliseconds kLongestListening{5000};

// Calls a listener on its own thread and waits for it, at most `limit`.
template <class T, class Function, class... Arguments>
Task<T> notify_listener(Pool& thread, std::chrono::milliseconds limit, Function function,
                        Arguments... arguments) {
  const auto deadline = std::chrono::steady_clock::now() + std::min(limit, kLongestListening);
  Raced<Result<T>> raced =
      co_await race<Result<T>>(ask<T>(true, thread, std::move(function), std::move(arguments)...),
                               deadline, std::stop_token());
  if (raced.finish == Finish::Worked) co_return std::move(*raced.value);
  co_return fail(ErrorCode::Internal, raced.finish == Finish::Threw ? "exception" : "timeout");
}

class FunctionHook final : public core::EventHook {
 public:
  FunctionHook(std::string name, EngineBuilder::RowHook on_event, std::chrono::milliseconds limit,
               Pool* thread)
      : name_(std::move(name)), on_event_(std::move(on_event)), limit_(limit), thread_(thread) {}
  const std::string& name() const override { return name_; }
  Task<core::HookRows> on_event(const Event& event, const Subject& subject) const override {
    if (thread_ == nullptr) co_return on_event_(event, subject);
    co_return co_await notify_listener<core::HookRows>(*thread_, limit_, on_event_, event, subject);
  }

 private:
  std::string name_;
  EngineBuilder::RowHook on_event_;
  std::chrono::milliseconds limit_;
  Pool* thread_;  // null: it is quick
};

class FunctionSink final : public core::Sink {
 public:
  FunctionSink(std::string name, EngineBuilder::Sink take, std::chrono::milliseconds limit,
               Pool* thread)
      : name_(std::move(name)), take_(std::move(take)), limit_(limit), thread_(thread) {}
  const std::string& name() const override { return name_; }
  Task<void> take(const AuditRecord& record) const override {
    if (thread_ == nullptr) co_return take_(record);
    co_return co_await notify_listener<void>(*thread_, limit_, take_, record);
  }

 private:
  std::string name_;
  EngineBuilder::Sink take_;
  std::chrono::milliseconds limit_;
  Pool* thread_;
};

class FunctionApprover final : public core::Approver {
 public:
  FunctionApprover(EngineBuilder::Approver answer, Pool& pool)
      : answer_(std::move(answer)), pool_(pool) {}
  Task<Reply> answer(Question question) const override {
    return ask<Reply>(true, pool_, answer_, std::move(question));
  }

 private:
  EngineBuilder::Approver answer_;
  Pool& pool_;
};

}  // namespace

std::shared_ptr<const core::Guard> make_guard(std::string name, EngineBuilder::Guard judge,
                                              const GuardOptions& options, Pool& pool) {
  return std::make_shared<FunctionGuard>(traits_of(std::move(name), options), std::move(judge),
                                         pool);
}

std::shared_ptr<const core::ResultGuard> make_result_guard(std::string name,
                                                           EngineBuilder::ResultGuard judge,
                                                           const GuardOptions& options,
                                                           Pool& pool) {
  return std::make_shared<FunctionResultGuard>(traits_of(std::move(name), options),
                                               std::move(judge), pool);
}

std::shared_ptr<const core::Guard> make_pre_hook(std::string name, EngineBuilder::PreHook decide,
                                                 const GuardOptions& options, bool rewrites,
                                                 Pool& pool) {
  const auto on_host = [decide = std::move(decide), waits = options.waits,
                        &pool](PreHookContext context) -> Task<PreHookDecision> {
    return ask<PreHookDecision>(waits, pool, decide, std::move(context));
  };
  return std::make_shared<core::PreHookGuard>(
      std::move(name), on_host,
      core::PreHookGuard::Options{rewrites, options.waits, options.limit, options.settings});
}

std::shared_ptr<const core::Guard> make_authorizer(std::string name,
                                                   EngineBuilder::Authorizer authorize,
                                                   const GuardOptions& options, Pool& pool) {
  const auto on_host = [authorize = std::move(authorize), waits = options.waits,
                        &pool](AuthorizationRequest request) -> Task<Authorization> {
    return ask<Authorization>(waits, pool, authorize, std::move(request));
  };
  return std::make_shared<core::AuthorizerGuard>(std::move(name), on_host, options.waits,
                                                 options.limit, options.settings);
}

std::shared_ptr<const core::EventHook> make_hook(std::string name, EngineBuilder::RowHook on_event,
                                                 std::chrono::milliseconds limit, Pool* thread) {
  return std::make_shared<FunctionHook>(std::move(name), std::move(on_event), limit, thread);
}

std::shared_ptr<const core::Sink> make_sink(std::string name, EngineBuilder::Sink take,
                                            std::chrono::milliseconds limit, Pool* thread) {
  return std::make_shared<FunctionSink>(std::move(name), std::move(take), limit, thread);
}

std::shared_ptr<const core::Approver> make_approver(EngineBuilder::Approver answer, Pool& pool) {
  return std::make_shared<FunctionApprover>(std::move(answer), pool);
}

}  // namespace sallyport::embed
