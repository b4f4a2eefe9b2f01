#include "core/event/host_events.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "core/call/call_record.h"
#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

namespace {

// What an event opens and closes, by names unique to its pair; empty: nothing.
struct Steps {
  std::string opens{};
  std::string closes{};
};

class StepsOf {
 public:
  explicit StepsOf(const Subject& subject) : subject_(subject) {}

  template <class E>
  Steps operator()(const E&) const {
    return {};
  }
  Steps operator()(const event::ModelRequestStarted& e) const {
    return {.opens = attempt("request", e)};
  }
  Steps operator()(const event::ModelRequestFinished& e) const {
    return {.opens = e.success ? attempt("response", e) : "", .closes = attempt("request", e)};
  }
  Steps operator()(const event::ModelResponseFinished& e) const {
    return {.closes = attempt("response", e)};
  }
  Steps operator()(const event::BackgroundTaskStarted& e) const {
    return {.opens = name("task", {e.agent_id, e.task_id})};
  }
  Steps operator()(const event::BackgroundTaskFinished& e) const {
    return {.closes = name("task", {e.agent_id, e.task_id})};
  }
  Steps operator()(const event::MemorySearchStarted& e) const { return {.opens = search(e)}; }
  Steps operator()(const event::MemorySearchFinished& e) const { return {.closes = search(e)}; }
  Steps operator()(const event::MemoryIngestStarted& e) const {
    return {.opens = revision("ingest", e.agent_id, e.source_revision)};
  }
  Steps operator()(const event::MemoryIngestFinished& e) const {
    return {.closes = revision("ingest", e.agent_id, e.source_revision)};
  }
  Steps operator()(const event::MemoryCompactionProposed& e) const {
    return {.opens = revision("compaction", e.agent_id, e.base_revision)};
  }
  Steps operator()(const event::MemoryCompactionApplied& e) const {
    return {.closes = revision("compaction", e.agent_id, e.base_revision)};
  }
  Steps operator()(const event::MemoryCompactionSkipped& e) const {
    return {.closes = revision("compaction", e.agent_id, e.base_revision)};
  }

 private:
  // A digest: facts hold no content.
  static std::string name(std::string_view kind, std::initializer_list<std::string> parts) {
    json::array all{json::value(kind)};
    for (const std::string& part : parts) all.push_back(json::value(part));
    return fmt::format("event:{}", hex(sha256(canonical_json(json::value(std::move(all))))));
  }
  template <class E>
  std::string attempt(std::string_view kind, const E& e) const {
    return name(kind, {e.agent_id, subject_.session_id, subject_.call_id, subject_.trace_id,
                       e.model, std::to_string(e.attempt)});
  }
  template <class E>
  std::string search(const E& e) const {
    return name("search", {e.agent_id, subject_.session_id, subject_.call_id, subject_.trace_id});
  }
  std::string revision(std::string_view kind, const std::string& agent,
                       std::uint64_t number) const {
    return name(kind, {agent, subject_.session_id, std::to_string(number)});
  }

  const Subject& subject_;
};

// The finish of a start that led to nothing.
struct FinishOf {
  const std::string& error;
  bool interrupted = false;

  template <class E>
  std::optional<Event> operator()(const E&) const {
    return std::nullopt;
  }
  std::optional<Event> operator()(const event::ModelRequestStarted& e) const {
    return event::ModelRequestFinished{.agent_id = e.agent_id,
                                       .model = e.model,
                                       .attempt = e.attempt,
                                       .success = false,
                                       .error = error};
  }
  std::optional<Event> operator()(const event::ModelRequestFinished& e) const {
    if (!e.success) return std::nullopt;
    return event::ModelResponseFinished{.agent_id = e.agent_id,
                                        .model = e.model,
                                        .attempt = e.attempt,
                                        .success = false,
                                        .error = error};
  }
  std::optional<Event> operator()(const event::BackgroundTaskStarted& e) const {
    using event::TaskStatus;
    return event::BackgroundTaskFinished{
        .agent_id = e.agent_id,
        .task_id = e.task_id,
        .status = interrupted ? TaskStatus::Interrupted : TaskStatus::Failed};
  }
  std::optional<Event> operator()(const event::MemorySearchStarted& e) const {
    return event::MemorySearchFinished{.agent_id = e.agent_id, .success = false, .error = error};
  }
  std::optional<Event> operator()(const event::MemoryIngestStarted& e) const {
    return event::MemoryIngestFinished{.agent_id = e.agent_id,
                                       .source_revision = e.source_revision,
                                       .success = false,
                                       .error = error};
  }
  std::optional<Event> operator()(const event::MemoryCompactionProposed& e) const {
    return event::MemoryCompactionSkipped{.agent_id = e.agent_id, .base_revision = e.base_revision};
  }
};

bool is_of_the_governor(const Event& event) {
  return std::visit(
      []<class E>(const E&) {
        return std::is_same_v<E, event::ToolAuthorizationStarted> ||
               std::is_same_v<E, event::ToolAuthorizationFinished> ||
               std::is_same_v<E, event::ToolAuthorizationBlocked> ||
               std::is_same_v<E, event::ToolExecutionStarted> ||
               std::is_same_v<E, event::ToolExecutionFinished> ||
               std::is_same_v<E, event::ToolExecutionBlocked> ||
               std::is_same_v<E, event::RecoveryPrepared>;
      },
      event);
}

std::uint64_t attempt_of(const Event& event) {
  return std::visit(
      [](const auto& kind) -> std::uint64_t {
        if constexpr (requires { kind.attempt; }) return kind.attempt;
        return 1;
      },
      event);
}

Result<void> check_host_event(const Event& event, const Subject& subject) {
  SALLYPORT_CHECK_OK(check(event));
  if (is_of_the_governor(event)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` is written by the engine itself, about calls that it runs",
                            event_type(event)),
                "event.kind");
  }
  if (scope(event).empty()) {
    return fail(ErrorCode::InvalidInput, "`event.agent_id` is empty, name the agent that acts",
                "event.agent_id");
  }
  if (subject.agent_id != scope(event)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the subject names agent `{:.60}`, the event `{:.60}`",
                            subject.agent_id, scope(event)),
                "subject.agent_id");
  }
  if (attempt_of(event) > 0) return {};
  return fail(ErrorCode::InvalidInput, "`event.attempt` is 0, attempts count from 1",
              "event.attempt");
}

}  // namespace

Task<void> HostEvents::emit(Event event, Subject subject, BesideEvent beside) {
  if (subject.agent_id.empty()) subject.agent_id = scope(event);
  SALLYPORT_CO_CHECK_OK(check_host_event(event, subject));
  const Steps steps = std::visit(StepsOf(subject), event);
  std::vector<Fact> facts = std::move(beside.facts);
  std::vector<Fact> expected;
  if (!steps.closes.empty()) {
    SALLYPORT_CO_TRY(auto open, records_.fact(kOpenCall, steps.closes));
    if (!open) {
      co_return fail(ErrorCode::Conflict,
                     fmt::format("`{}` finishes nothing: its start was not emitted, or has its "
                                 "finish",
                                 event_type(event)),
                     "event.kind", "not_started");
    }
    facts.push_back({std::string(kOpenCall), steps.closes, std::nullopt});
    expected.push_back({std::string(kOpenCall), steps.closes, std::move(*open)});
  }
  if (!steps.opens.empty()) {
    facts.push_back({std::string(kOpenCall), steps.opens, instances_.instance_id(), true});
    expected.push_back({std::string(kOpenCall), steps.opens, std::nullopt});
  }
  const Result<void> done = co_await emitter_.emit(event, subject, std::move(facts),
                                                   std::move(expected), std::move(beside.changes));
  if (done) co_return done;
  if (done.error().code == ErrorCode::Conflict) {
    co_return fail(ErrorCode::Conflict,
                   fmt::format("`{}` is open or finished already; give events of parallel work "
                               "another session, call or trace",
                               event_type(event)),
                   "event.kind", "already_started");
  }
  // A hook refused an event that is recorded: it does not happen, so it gets its finish (EV-60).
  if (done.error().cause == "hook" && announces(event)) {
    const std::optional<Event> finish = std::visit(FinishOf{.error = done.error().message}, event);
    if (finish) (void)co_await emit(*finish, subject);
  }
  co_return done;
}

std::vector<Draft> finish_interrupted(const json::object& entry) {
  const json::value* const body = entry.if_contains("body");
  const Result<Event> event = event_from_json(body ? *body : json::value());
  if (!event) return {};
  const std::string error = "interrupted: the process ended before it finished";
  const std::optional<Event> finish =
      std::visit(FinishOf{.error = error, .interrupted = true}, *event);
  std::vector<Draft> drafts;
  if (finish) drafts.push_back(event_row(*finish, subject_of(entry)));
  return drafts;
}

}  // namespace sallyport::core
