#include "external/guards.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/plan/judge.h"
#include "external/launch.h"
#include "external/wire.h"

namespace sallyport::external {

namespace {

// The peer ends at the deadline on its own, with a more precise error than a timer.
constexpr std::chrono::milliseconds kGrace{1000};

// Shared by all guards. Immutable.
struct Part {
  Entry entry;
  std::shared_ptr<const Scope> scope;
  std::shared_ptr<const Peer> peer;  // null: nothing is started
  std::shared_ptr<Host> host;        // null where `peer` is

  Task<json::object> ask(json::object request, std::vector<std::string> workspaces) const {
    if (!peer)
      co_return fail(ErrorCode::Unavailable, "it is not asked here", {},
                     std::string(core::kGuardNotOurs));
    co_return co_await peer->ask({std::move(request),
                                  std::chrono::steady_clock::now() + entry.deadline,
                                  std::move(workspaces)});
  }

  // Logs what is wrong with an answer.
  template <class T>
  Result<T> read(Result<T> read) const {
    if (!read && host != nullptr && read.error().code == ErrorCode::Corrupt) {
      host->log(fmt::format("{} failed: {}", entry.name(), read.error().message));
    }
    return read;
  }

  std::string clean(std::string text) const {
    return host == nullptr ? text : without_secrets(entry, *host, std::move(text));
  }
};

core::GuardTraits traits_of(const Entry& entry, core::Stage stage) {
  return {.name = entry.name(),
          .stage = stage,
          .rewrites = entry.kind == Kind::Rewriter,
          .waits = true,
          .outside = true,
          .limit = entry.deadline + kGrace,
          .settings = entry.source};
}

core::Stage stage_of(Kind kind) {
  if (kind == Kind::Rewriter) return core::Stage::PreHook;
  return kind == Kind::Authorizer ? core::Stage::Authorizer : core::Stage::External;
}

class CallGuard final : public core::Guard {
 public:
  explicit CallGuard(Part part)
      : traits_(traits_of(part.entry, stage_of(part.entry.kind))), part_(std::move(part)) {}
  const core::GuardTraits& traits() const override { return traits_; }

  Task<Verdict> judge(const Call& call, const core::GuardContext& context) const override {
    const Entry& entry = part_.entry;
    const Scope::Seen seen = part_.scope->look(entry, call, context.around.get());
    if (!seen.asked) co_return Verdict::allow();
    const core::CallSurroundings nothing;
    const core::CallSurroundings& around = context.around ? *context.around : nothing;
    json::object request = request_at("call", entry, around.policy_hash);
    if (part_.host != nullptr) {
      add_call(request, entry, {call, context.classification, &context.preview, seen, around.rules},
               part_.host->redactor());
    }
    SALLYPORT_CO_TRY(const json::object answer,
                     co_await part_.ask(std::move(request), seen.workspaces));
    Result<Verdict> verdict = part_.read(call_verdict(entry.kind, answer));
    if (verdict) {
      verdict->reason = part_.clean(std::move(verdict->reason));
      verdict->rule = part_.clean(std::move(verdict->rule));
    }
    co_return verdict;
  }

 private:
  core::GuardTraits traits_;
  Part part_;
};

class ResultGuard final : public core::ResultGuard {
 public:
  explicit ResultGuard(Part part)
      : traits_(traits_of(part.entry, core::Stage::External)), part_(std::move(part)) {}
  const core::GuardTraits& traits() const override { return traits_; }

  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override {
    const Entry& entry = part_.entry;
    const Call unknown{.tool = context.tool};
    const Call& call = context.call ? *context.call : unknown;
    const Scope::Seen seen = part_.scope->look(entry, call, context.around.get());
    if (!seen.asked) co_return Verdict::allow();
    json::object request = request_at("result", entry, context.policy_hash);
    if (part_.host != nullptr) {
      const Classification classification{.effect_class = context.effect_class};
      const core::CallSurroundings nothing;
      const core::CallSurroundings& around = context.around ? *context.around : nothing;
      const core::Redactor& redactor = part_.host->redactor();
      add_call(request, entry, {call, classification, nullptr, seen, around.rules}, redactor);
      json::value shown = result.to_json();
      if (!entry.sees_input) shown = redacted(redactor, "result", std::move(shown));
      request["result"] = std::move(shown);
      request["is_error"] = context.is_error;
    }
    const Result<json::object> answer = co_await part_.ask(std::move(request), seen.workspaces);
    Result<Verdict> verdict =
        answer ? part_.read(result_verdict(*answer)) : std::unexpected(answer.error());
    if (!verdict) {
      const bool answered = verdict.error().code == ErrorCode::Corrupt;
      if (answered) verdict.error().cause = core::kNoVerdict;
      co_return verdict;
    }
    verdict->reason = part_.clean(std::move(verdict->reason));
    co_return verdict;
  }

 private:
  core::GuardTraits traits_;
  Part part_;
};

// A call with the members that an event or a record names.
Call named_call(const Subject& subject) {
  return {.call_id = subject.call_id,
          .agent_id = subject.agent_id,
          .session_id = subject.session_id,
          .server = subject.server,
          .tool = subject.tool_name};
}

json::object shown_call(const Call& call) {
  return {{"call_id", call.call_id},
          {"agent", call.agent_id},
          {"session", call.session_id},
          {"server", call.server},
          {"tool", call.tool}};
}

class EventListener final : public core::EventHook {
 public:
  explicit EventListener(Part part) : name_(part.entry.name()), part_(std::move(part)) {}
  const std::string& name() const override { return name_; }
  bool waits() const override { return true; }
  std::optional<std::chrono::milliseconds> limit() const override {
    return part_.entry.deadline + kGrace;
  }
  bool fails_open() const override { return part_.entry.fails_open; }

  bool wants(const Subject& subject) const override {
    return part_.scope->concerns(part_.entry, named_call(subject));
  }

  Task<core::HookRows> on_event(const Event& event, const Subject& subject) const override {
    json::object request = request_at("event", part_.entry, subject.policy_hash);
    request["call"] = shown_call(named_call(subject));
    request["event"] = to_json(event);
    SALLYPORT_CO_TRY(const json::object answer,
                     co_await part_.ask(std::move(request), part_.scope->workspaces()));
    SALLYPORT_CO_CHECK_OK(part_.read(events_result(answer)));
    co_return core::HookRows{};
  }

 private:
  std::string name_;
  Part part_;
};

class RecordSink final : public core::Sink {
 public:
  explicit RecordSink(Part part) : name_(part.entry.name()), part_(std::move(part)) {}
  const std::string& name() const override { return name_; }

  Task<void> take(const AuditRecord& record) const override {
    const Call call{.call_id = record.call_id,
                    .agent_id = record.agent_id,
                    .session_id = record.session_id,
                    .server = record.server,
                    .tool = record.tool_name};
    if (!part_.scope->concerns(part_.entry, call)) co_return Result<void>{};
    json::object request = request_at("record", part_.entry, record.policy_hash);
    request["call"] = shown_call(call);
    request["record"] = to_json(record);
    SALLYPORT_CO_TRY(const json::object answer,
                     co_await part_.ask(std::move(request), part_.scope->workspaces()));
    co_return part_.read(events_result(answer));
  }

 private:
  std::string name_;
  Part part_;
};

// Answers as the reviewer whose name is its id (RU-67).
class ProgramApprover final : public core::Approver {
 public:
  explicit ProgramApprover(Part part) : part_(std::move(part)) {}

  Task<Reply> answer(Question question) const override {
    const Entry& entry = part_.entry;
    const Call call{.call_id = question.call_id,
                    .tool_call_id = question.tool_call_id,
                    .agent_id = question.agent_id,
                    .session_id = question.session_id,
                    .server = question.server,
                    .tool = question.tool,
                    .input = question.input};
    const Scope::Seen seen = part_.scope->look(entry, call, nullptr);
    if (!seen.asked || part_.host == nullptr) {
      co_return fail(ErrorCode::NotFound, "it is not asked about this call");
    }
    json::object request = request_at("question", entry, question.policy_hash);
    const Classification classification{.effect_class = question.action};
    const core::Redactor& redactor = part_.host->redactor();
    const json::array no_rules;
    add_call(request, entry, {call, classification, nullptr, seen, no_rules}, redactor);
    json::object shown = core::request_json(question);
    if (!entry.sees_input) {
      json::value hidden = redacted(redactor, "question", std::move(shown));
      shown = hidden.is_object() ? std::move(hidden.get_object()) : json::object();
    }
    request["question"] = std::move(shown);
    Result<json::object> answer = co_await part_.ask(std::move(request), seen.workspaces);
    Result<std::optional<Reply>> reply =
        answer ? part_.read(reply_from(*answer, entry.id)) : std::unexpected(answer.error());
    if (reply && !*reply) co_return fail(ErrorCode::NotFound, "it has no opinion");
    // RU-66: a failure denies.
    Reply given = reply ? std::move(**reply) : Reply::deny(entry.id, entry.name() + " failed");
    given.reason = part_.clean(std::move(given.reason));
    given.door = entry.name();
    given.binding = question.binding;
    co_return given;
  }

 private:
  Part part_;
};

void add(core::PlanBuilder& plan, Part part) {
  const std::string name = part.entry.name();
  const bool fails_open = part.entry.fails_open;
  switch (part.entry.kind) {
    case Kind::Guard:
    case Kind::Rewriter:
    case Kind::Authorizer:
      plan.guard(std::make_shared<const CallGuard>(std::move(part)));
      if (fails_open) plan.fail_open(name);
      return;
    case Kind::Result:
      plan.result_guard(std::make_shared<const ResultGuard>(std::move(part)));
      if (fails_open) plan.fail_open(name);
      return;
    case Kind::Events:
      plan.hook(std::make_shared<const EventListener>(std::move(part)));
      return;
    case Kind::Sink:
      plan.sink(std::make_shared<const RecordSink>(std::move(part)));
      return;
    case Kind::Approver:
      plan.approver(std::make_shared<const ProgramApprover>(std::move(part)));
  }
}

}  // namespace

Result<void> add_to_plan(core::PlanBuilder& plan, const std::vector<Entry>& entries,
                         std::shared_ptr<const Scope> scope, std::shared_ptr<Host> host) {
  json::array sources;
  for (const Entry& entry : entries) {
    Part part{.entry = entry, .scope = scope, .host = host};
    if (host != nullptr) {
      SALLYPORT_TRY(part.peer, make_peer(entry, host, scope->workspaces()));
    }
    sources.push_back(entry.source);
    // Without a host nothing runs, so listeners get no events.
    if (host != nullptr || entry.decides_calls() || entry.kind == Kind::Result) {
      add(plan, std::move(part));
    }
  }
  if (!sources.empty()) plan.also("external", std::move(sources));
  return {};
}

std::optional<std::string> missing_answer(const core::Rehearsal& now) {
  std::optional<std::string> missing;
  bool refused = now.rules && now.rules->verdict == core::RuleAnswer::Verdict::Refused;
  for (const GuardRun& run : now.guard_runs) {
    refused = refused || run.verdict == GuardVerdict::Deny;
    if (run.why != std::string(core::kGuardNotOurs)) continue;
    // Guards after a rewriter cannot know the rewritten input.
    if (run.stage == to_string(core::Stage::PreHook)) return run.guard;
    if (!missing) missing = run.guard;
  }
  return refused ? std::nullopt : missing;
}

std::vector<std::string> asked_about(const std::vector<Entry>& entries, const Scope& scope,
                                     const Call& call, const core::CallSurroundings* around) {
  std::vector<std::string> ids;
  for (const Entry& entry : entries) {
    if (entry.decides_calls() && scope.look(entry, call, around).asked) ids.push_back(entry.id);
  }
  return ids;
}

}  // namespace sallyport::external
