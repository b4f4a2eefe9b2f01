#include "support/call_history_parts.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <stdexcept>

#include "core/plan/authorizer.h"
#include "core/plan/pre_hook.h"
#include "support/governed.h"

namespace sallyport::test {

namespace asio = boost::asio;
using core::PrepareStep;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

Async<void> wait_long() {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::minutes(10));
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Async<void> let_others_run(std::uint64_t turns) {
  const auto executor = co_await asio::this_coro::executor;
  for (std::uint64_t i = 0; i < turns; ++i) co_await asio::post(executor, asio::use_awaitable);
}

// The reaction of a tool to a call, prepared or not.
class Body {
 public:
  Body(Surroundings around, const ModelLedger& ledger, bool relaxed)
      : around_(around), ledger_(ledger), relaxed_(relaxed) {}

  Task<Envelope> run(Call call, std::string operation) const {
    const Dice& dice = around_.dice;
    const bool other_revision =
        !operation.empty() && dice.once_in(6, {"other revision", call.trace_id});
    around_.witness.runs.push_back({.call_id = call.call_id,
                                    .trace_id = call.trace_id,
                                    .tool = call.tool,
                                    .instance = ledger_.instance_id(),
                                    .operation = std::move(operation),
                                    .moment = around_.disk.next_moment(),
                                    .began = !other_revision,
                                    .something_owed = ledger_.owes(),
                                    .relaxed = relaxed_});
    if (other_revision) {
      co_return core::PreparingUpstream::other_revision("somebody changed it meanwhile");
    }
    co_await let_others_run(dice.pick(4, {"turns", call.trace_id}));
    switch (dice.pick(12, {"body", call.trace_id})) {
      case 0:
        co_return Envelope::error("it failed for " + call.call_id);
      case 1:
        co_return fail(ErrorCode::Unavailable, "no way there");
      case 2:
        throw std::runtime_error("thrown by a tool");
      case 3:
        if (dice.once_in(2, {"hang", call.trace_id})) co_await wait_long();
        break;
      case 4:
        around_.witness.callers[call.trace_id].request_stop();
        co_await wait_long();
        break;
      case 5:
        if (dice.once_in(4, {"long", call.trace_id})) {
          co_return Envelope::of(
              json::value("answer for " + call.call_id + std::string(60'000, 'x')));
        }
        break;
      default:
        break;
    }
    co_return Envelope::of(json::value("answer for " + call.call_id));
  }

  const Surroundings& around() const { return around_; }

 private:
  Surroundings around_;
  const ModelLedger& ledger_;
  bool relaxed_;
};

class PlainTool final : public core::Upstream {
 public:
  explicit PlainTool(const Body& body) : body_(body) {}
  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    co_return co_await body_.run(std::move(call), {});
  }

 private:
  Body body_;
};

class Steps final : public core::Preparation {
 public:
  Steps(const Surroundings& around, const Call& call)
      : choice_(around.dice.pick(18, {"prepare", call.trace_id})), clock_(around.clock) {
    made_.operation_id = fmt::format("op-{}", ++around.witness.operations);
    made_.revision = around.dice.pick(9, {"revision", call.trace_id});
    made_.snapshot = json::object{{"for", call.trace_id}};
    if (choice_ == 5) made_.expires_at = rfc3339(clock_.wall() + milliseconds(20));
    if (choice_ == 6) made_.expires_at = rfc3339(clock_.wall() - seconds(1));
  }
  Task<std::optional<PrepareStep>> next() override {
    if (choice_ > 7 && ++steps_ < 2) co_return PrepareStep{.text = "working"};
    switch (choice_) {
      case 0:
        co_return PrepareStep{.kind = PrepareStep::Kind::Invalid, .text = "no such account"};
      case 1:
        co_return PrepareStep{.kind = PrepareStep::Kind::Refused, .text = "not this account"};
      case 2:
        co_return fail(ErrorCode::Unavailable, "no way there");
      case 3:
        co_return std::nullopt;
      case 4:
        throw std::runtime_error("thrown by a preparation");
      default:
        co_return PrepareStep{.kind = PrepareStep::Kind::Ready, .prepared = made_};
    }
  }

 private:
  std::uint64_t choice_;
  const Clock& clock_;
  Prepared made_;
  unsigned steps_ = 0;
};

class PreparedTool final : public core::PreparingUpstream {
 public:
  PreparedTool(const Body& body, bool outlives) : body_(body), outlives_(outlives) {}
  std::shared_ptr<core::Preparation> prepare(Call call, std::stop_token) override {
    return std::make_shared<Steps>(body_.around(), call);
  }
  void cancel(std::string) override {}
  bool outlives_process() const override { return outlives_; }
  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    std::string operation =
        fmt::format("{} {}", std::string(call.input.at("operation_id").as_string()),
                    call.input.at("revision").to_number<std::uint64_t>());
    co_return co_await body_.run(std::move(call), std::move(operation));
  }

 private:
  Body body_;
  bool outlives_;
};

json::value evidence_of(const Call& call) {
  return json::object{{"of", call.call_id}};
}

Result<Verdict> judge_call(const Surroundings& around, const std::string& guard, const Call& call) {
  Verdict verdict;
  switch (around.dice.pick(26, {guard, call.trace_id})) {
    case 0:
      verdict = Verdict::deny("not today");
      break;
    case 1: {
      json::value input = call.input;
      if (json::object* const object = input.if_object()) (*object)["checked"] = guard;
      verdict = Verdict::rewrite(std::move(input), "checked");
      break;
    }
    case 2:
      verdict = Verdict::ask("really?");
      break;
    case 3:
      verdict = Verdict::escalate("look at this");
      break;
    case 4:
      throw std::runtime_error("thrown by a guard");
    case 5:
      return fail(ErrorCode::Internal, "a guard erred");
    case 6:
      around.clock.advance(seconds(3));
      break;
    default:
      break;
  }
  if (verdict.kind != Verdict::Kind::Rewrite) verdict.evidence = evidence_of(call);
  return verdict;
}

Task<PreHookDecision> decide_by_hook(Surroundings around, PreHookContext context) {
  switch (around.dice.pick(18, {"pre-hook", context.call_id})) {
    case 0:
      co_return PreHookDecision::deny("the hook says no");
    case 1:
      co_return PreHookDecision::modify(R"({"changed":true})", "better so");
    case 2:
      co_return fail(ErrorCode::Internal, "a hook erred");
    default:
      co_return PreHookDecision::allow();
  }
}

Task<Authorization> authorize_by_host(Surroundings around, AuthorizationRequest request) {
  switch (around.dice.pick(18, {"authorizer", request.tool_call_id, request.tool_name})) {
    case 0:
      co_return Authorization{Authorization::Kind::Deny, "the host says no"};
    case 1:
      co_return Authorization{Authorization::Kind::Prompt, "the host asks"};
    case 2:
      throw std::runtime_error("thrown by an authorizer");
    default:
      co_return Authorization{};
  }
}

Result<Verdict> judge_result(const Surroundings& around, const Envelope& envelope,
                             const ResultContext& context) {
  const std::string& call_id = context.call->call_id;
  switch (around.dice.pick(9, {"result", context.call->trace_id})) {
    case 0:
      return Verdict::deny("withheld from " + call_id);
    case 1:
      if (envelope.kind == Envelope::Kind::Value) {
        return Verdict::rewrite(
            Envelope::of(json::value("masked answer for " + call_id)).to_json());
      }
      return Verdict::allow();
    case 2:
      return Verdict::escalate("look at " + call_id);
    case 3:
      throw std::runtime_error("thrown by a result guard");
    default:
      return Verdict::allow();
  }
}

}  // namespace

std::uint64_t Dice::pick(std::uint64_t sides, std::initializer_list<std::string_view> names) const {
  std::uint64_t value = mix(seed_);
  for (const std::string_view name : names) {
    for (const char letter : name) value = mix(value ^ static_cast<unsigned char>(letter));
    value = mix(value + 1);
  }
  return value % sides;
}

void SeededEntropy::fill(std::span<std::uint8_t> out) {
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(mix(++state_));
}

const std::vector<ToolKind>& tool_kinds() {
  static const std::vector<ToolKind> kinds{
      {.name = "look", .classification = {Tier::Observe, "none", ""}},
      {.name = "fetch", .classification = {Tier::Observe, "network", ""}},
      {.name = "write", .classification = {Tier::Confirm, "write", ""}},
      {.name = "pay", .classification = {Tier::Confirm, "money", ""}, .prepares = true},
      {.name = "ship",
       .classification = {Tier::Confirm, "goods", ""},
       .prepares = true,
       .outlives = true},
      {.name = "nothing", .classification = {}, .known = false}};
  return kinds;
}

const ToolKind& tool_kind(std::string_view name) {
  for (const ToolKind& kind : tool_kinds()) {
    if (kind.name == name) return kind;
  }
  return tool_kinds().back();
}

std::shared_ptr<core::Upstream> make_tool(const ToolKind& kind, Surroundings around,
                                          const ModelLedger& ledger, bool relaxed) {
  const Body body(around, ledger, relaxed);
  if (!kind.known) return std::make_shared<core::UnknownTool>();
  if (kind.prepares) return std::make_shared<PreparedTool>(body, kind.outlives);
  return std::make_shared<PlainTool>(body);
}

std::shared_ptr<const core::Plan> make_plan(const Surroundings& around, std::string_view variant) {
  using core::IntentDurability;
  const Dice& dice = around.dice;
  core::PlanBuilder builder;
  for (const ToolKind& kind : tool_kinds()) {
    if (kind.known) builder.tool("", kind.name, kind.classification);
  }
  const std::uint64_t guards = dice.pick(3, {"guards", variant});
  for (std::uint64_t i = 0; i < guards; ++i) {
    const std::string name = fmt::format("guard-{}", i);
    auto guard = std::make_shared<FunctionGuard>(
        name, [around, name](const Call& call) { return judge_call(around, name, call); });
    guard->mutable_traits().rewrites = dice.once_in(3, {"rewrites", name});
    builder.guard(guard);
    if (dice.once_in(3, {"fail open", name})) builder.fail_open(name);
  }
  if (dice.once_in(3, {"has pre-hook", variant})) {
    builder.guard(std::make_shared<core::PreHookGuard>(
        "pre-hook",
        [around](PreHookContext context) { return decide_by_hook(around, std::move(context)); },
        core::PreHookGuard::Options{}));
  }
  if (dice.once_in(4, {"has authorizer", variant})) {
    builder.guard(
        std::make_shared<core::AuthorizerGuard>("host", [around](AuthorizationRequest request) {
          return authorize_by_host(around, std::move(request));
        }));
  }
  if (dice.once_in(2, {"has result guard", variant})) {
    auto guard = std::make_shared<FunctionResultGuard>(
        "result", [around](const Envelope& envelope, const ResultContext& context) {
          return judge_result(around, envelope, context);
        });
    builder.result_guard(guard);
  }
  constexpr std::array kAutonomies{Autonomy::ActAuto,         Autonomy::ActAuto,
                                   Autonomy::ActWithApproval, Autonomy::ActWithApproval,
                                   Autonomy::Suggest,         Autonomy::Shadow};
  constexpr std::array kDurabilities{IntentDurability::Strict, IntentDurability::Effect,
                                     IntentDurability::Relaxed};
  builder.autonomy(kAutonomies[dice.pick(kAutonomies.size(), {"autonomy", variant})]);
  builder.durability(kDurabilities[dice.pick(kDurabilities.size(), {"durability"})]);
  builder.time_limit(milliseconds(2)).approval_time(seconds(600));
  return *std::move(builder).build();
}

core::HookRegistry make_hooks(const Surroundings& around) {
  core::HookRegistry hooks;
  const std::uint64_t count = around.dice.pick(3, {"hooks"});
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = fmt::format("hook-{}", i);
    const auto hear = [around, name](const Event& event, const Subject& subject) -> Result<void> {
      const std::string_view type = event_type(event);
      if (subject.trace_id.empty() ||
          !around.dice.once_in(announces(event) ? 20 : 8, {name, type, subject.trace_id})) {
        return {};
      }
      if (announces(event)) {
        around.witness.stopped.emplace(subject.call_id, around.disk.next_moment());
      }
      if (around.dice.once_in(2, {"hook throws", name})) throw std::runtime_error("by a hook");
      return fail(ErrorCode::Unavailable, "not heard");
    };
    (void)hooks.with_hook(std::make_shared<FunctionHook>(name, hear));
  }
  return hooks;
}

std::vector<std::shared_ptr<const core::Sink>> make_sinks(const Surroundings& around) {
  if (!around.dice.once_in(3, {"has sink"})) return {};
  return {std::make_shared<FunctionSink>("sink", [around](const AuditRecord& record) {
    return around.dice.once_in(4, {"sink", record.call_id})
               ? Result<void>(fail(ErrorCode::Unavailable, "the sink is full"))
               : Result<void>();
  })};
}

std::shared_ptr<const core::Approver> make_approver(const Surroundings& around) {
  if (!around.dice.once_in(2, {"has approver"})) return nullptr;
  return std::make_shared<FunctionApprover>([around](const Question& question) -> Result<Reply> {
    switch (around.dice.pick(8, {"approver", question.approval_id})) {
      case 0:
        return Reply::deny("approver", "better not");
      case 1:
        return fail(ErrorCode::Unavailable, "the approver is away");
      case 2:
        around.clock.advance(seconds(700));
        return Reply::approve("approver");
      default:
        return Reply::approve("approver");
    }
  });
}

}  // namespace sallyport::test
