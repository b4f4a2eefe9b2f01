#include "sallyport/engine.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "core/record/stored_record.h"
#include "embed/either_stop.h"
#include "embed/engine_body.h"
#include "ledger/maintenance.h"
#include "ledger/proof/key_history.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/verify.h"
#include "ledger/read/look_at.h"
#include "ledger/read/query.h"
#include "ledger/read/stored_entry.h"

namespace sallyport {

using ledger::Facet;

namespace {

Result<std::optional<WallTime>> time_of(const std::string& text, const char* name) {
  if (text.empty()) return std::nullopt;
  const std::optional<WallTime> time = from_rfc3339(text);
  if (!time) return fail(ErrorCode::InvalidInput, "`" + text + "` is not an RFC 3339 time", name);
  return time;
}

struct Span {
  const std::string& since;
  const std::string& until;
  std::optional<std::uint64_t> after;
  std::size_t limit;
};

Result<ledger::Filter> filter_of(std::vector<std::pair<Facet, const std::string&>> facets,
                                 const Span& span) {
  ledger::Filter filter{.after = span.after, .limit = span.limit};
  for (const auto& [facet, value] : facets) {
    if (!value.empty()) filter.facets[facet] = value;
  }
  SALLYPORT_TRY(filter.since, time_of(span.since, "since"));
  SALLYPORT_TRY(filter.until, time_of(span.until, "until"));
  if (filter.since && filter.until && *filter.until < *filter.since) {
    return fail(ErrorCode::InvalidInput, "`until` is before `since`", "until");
  }
  return filter;
}

// Refuses an outcome word that no record can have: it would never match (EV-111, AU-93).
Result<void> check_outcome(const std::string& word) {
  if (word.empty() || outcome_kind_from(word)) return {};
  return fail(ErrorCode::InvalidInput,
              "there is no outcome `" + word +
                  "`; one of blocked, requires_confirmation, cached, replayed, invalidated, "
                  "completed, persistence_failed",
              "outcome");
}

Result<void> check_event_type(const std::string& word) {
  if (word.empty() || is_event_type(word)) return {};
  return fail(ErrorCode::InvalidInput, "there is no event `" + word + "`", "event_type");
}

Result<std::vector<json::object>> find(ledger::LedgerStore& store, const ledger::Filter& filter,
                                       json::object (*shape)(const json::object&)) {
  std::vector<json::object> found;
  SALLYPORT_CHECK_OK(store.read([&](ledger::ReadView& view) {
    return ledger::find_entries(
        view, filter,
        [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
          SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
          found.push_back(shape(entry));
          return true;
        });
  }));
  return found;
}

// True if the log has a process run with this name.
Result<bool> is_instance(ledger::LedgerStore& store, const std::string& scope) {
  ledger::Filter filter{.facets = {{Facet::Kind, "event"}},
                        .body = {{"runtime_instance_id", json::value(scope)}},
                        .limit = 1};
  SALLYPORT_TRY(const auto found, find(store, filter, core::event_json));
  return !found.empty();
}

}  // namespace

// Callers first; then tools, since they use the loop; then the loop; and last the ledger, which
// says `stopped`.
Engine::Body::~Body() {
  visitors.close();
  if (pool) pool->join();
  for (const auto& listener : listeners) listener->join();
  working.reset();
  loop.stop();
  for (std::thread& thread : loops) thread.join();
  ledger.reset();
  store.reset();
  std::error_code ignored;
  if (!temporary.empty()) std::filesystem::remove_all(temporary, ignored);
}

std::shared_ptr<core::Upstream> Engine::Body::find_tool(const Call& call) const {
  for (const std::string& server : {call.server, std::string()}) {
    if (const auto found = tools.find({server, call.tool}); found != tools.end()) {
      return found->second;
    }
  }
  return std::make_shared<core::UnknownTool>();
}

void Engine::Body::listen_for_late_records() {
  ledger->on_late_records([this] { embed::start_task(loop, governor->deliver_late_records()); });
}

Engine::Engine(std::unique_ptr<Body> body) : body_(std::move(body)) {}

// The child of a fork has nothing to wait for, and must not write or remove files of the parent.
Engine::~Engine() {
  if (body_ && !body_->visitors.here()) (void)body_.release();
}

namespace {

void name_front(Call& call) {
  if (call.setting.front.empty()) call.setting.front = "library";
}

}  // namespace

Result<Answer> Engine::call(Call call, CallOptions options) {
  name_front(call);
  std::shared_ptr<core::Upstream> tool = body_->find_tool(call);
  const EitherStop stop(std::move(options.cancel), body_->visitors.leaving());
  core::Caller caller{
      .cancel = stop.token(), .holds = options.hold, .progress = std::move(options.on_progress)};
  return body_->run(body_->governor->run(std::move(call), std::move(tool), std::move(caller)));
}

Result<Answer> Engine::stream(Call call, const std::function<void(const json::value&)>& on_chunk,
                              CallOptions options) {
  SALLYPORT_TRY(Answer answer, this->call(std::move(call), std::move(options)));
  for (const json::value& chunk : answer.released.chunks) on_chunk(chunk);
  return answer;
}

Result<TurnEnd> Engine::run_turn(Continuation::Payload frame, std::vector<Call> calls) {
  std::ranges::for_each(calls, name_front);
  SALLYPORT_TRY(core::Turns::Ended ended,
                body_->run(body_->turns->run(std::move(frame), std::move(calls),
                                             {.cancel = body_->visitors.leaving()})));
  return TurnEnd{std::move(ended.results), std::move(ended.paused), std::move(ended.approval_id)};
}

Result<TurnEnd> Engine::resume_turn(const Continuation& continuation,
                                    const std::string& session_id) {
  SALLYPORT_TRY(core::Turns::Ended ended,
                body_->run(body_->turns->resume(continuation, session_id, {},
                                                {.cancel = body_->visitors.leaving()})));
  return TurnEnd{std::move(ended.results), std::move(ended.paused), std::move(ended.approval_id)};
}

Result<HandedOut> Engine::hand_out(Continuation::Payload frame, std::vector<Call> calls,
                                   std::chrono::seconds within) {
  std::ranges::for_each(calls, name_front);
  SALLYPORT_TRY(
      core::HandOffs::HandedOut given,
      body_->run(body_->hand_offs->hand_out(std::move(frame), std::move(calls),
                                            {.cancel = body_->visitors.leaving()}, within)));
  return HandedOut{std::move(given.hand_off), std::move(given.answered)};
}

Result<std::vector<Answer>> Engine::submit(const Submission& submission,
                                           const std::string& session_id) {
  return body_->run(body_->hand_offs->submit(submission, session_id));
}

Result<void> Engine::answer(const std::string& approval_id, const Reply& reply) {
  return body_->run(body_->governor->approvals().answer(approval_id, reply));
}

Result<std::vector<Answer>> Engine::run_answered() {
  return body_->run(body_->governor->run_answered(
      [this](const Call& call) -> std::shared_ptr<core::Upstream> {
        std::shared_ptr<core::Upstream> tool = body_->find_tool(call);
        return tool->known() ? tool : nullptr;
      },
      body_->visitors.leaving()));
}

Result<HumanAnswer> Engine::ask(HumanQuestion question, CallOptions options) {
  if (const std::string& event = question.trigger_id; !event.empty()) {
    SALLYPORT_CHECK_OK(core::check_trigger_id(event, *body_->redactor));
  }
  SALLYPORT_TRY(std::string id, body_->run(body_->questions->ask(std::move(question))));
  if (!options.hold) return HumanAnswer{.request_id = std::move(id)};
  const EitherStop stop(std::move(options.cancel), body_->visitors.leaving());
  return body_->run(body_->questions->wait(std::move(id), stop.token()));
}

Result<HumanAnswer> Engine::answer_to(const std::string& request_id) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  SALLYPORT_CHECK_OK(body_->run(body_->governor->approvals().expire(request_id)));
  return body_->questions->answer_to(request_id);
}

Result<std::size_t> Engine::end_session(const std::string& session_id) {
  return body_->run(body_->governor->approvals().cancel_session(session_id, "the session ended"));
}

Result<void> Engine::emit(Event event, Subject subject) {
  subject.policy_hash = body_->policy_hash;
  return body_->run(body_->host_events->emit(std::move(event), std::move(subject)));
}

ProviderError Engine::http_error(std::uint64_t status, std::string_view body,
                                 std::optional<std::chrono::milliseconds> retry_after) const {
  return ProviderError::http(status, body, retry_after, *body_->redactor);
}

struct Replay::Body {
  Body(Engine& of, std::string trigger_id) : engine(of), count(std::move(trigger_id)) {}

  Engine& engine;
  core::ReplayCount count;
};

Result<std::unique_ptr<Replay>> Engine::replay(std::string trigger_id) {
  SALLYPORT_CHECK_OK(core::check_trigger_id(trigger_id));
  auto body = std::make_unique<Replay::Body>(*this, std::move(trigger_id));
  return std::unique_ptr<Replay>(new Replay(std::move(body)));
}

Replay::Replay(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Replay::~Replay() = default;

Result<Answer> Replay::call(Call call) {
  Engine::Body& engine = *body_->engine.body_;
  std::shared_ptr<core::Upstream> tool = engine.find_tool(call);
  return engine.run(engine.governor->replay(std::move(call), std::move(tool), body_->count));
}

Result<HumanAnswer> Replay::ask(const HumanQuestion& question) {
  Engine::Body& engine = *body_->engine.body_;
  SALLYPORT_TRY(const Visitors::Visit visit, engine.visitors.enter());
  return engine.questions->recall(question, body_->count);
}

Result<std::vector<EscalationItem>> Engine::escalations() {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  return body_->governor->escalations().waiting();
}

Result<void> Engine::settle_escalation(const std::string& id, bool accepted, const std::string& by,
                                       const std::string& note) {
  return body_->run(body_->governor->escalations().settle(id, accepted, by, note));
}

Result<std::vector<json::object>> Engine::record_json(const RecordQuery& query) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  SALLYPORT_CHECK_OK(check_outcome(query.outcome));
  SALLYPORT_TRY(ledger::Filter filter,
                filter_of({{Facet::Call, query.call_id},
                           {Facet::Session, query.session_id},
                           {Facet::Agent, query.agent_id},
                           {Facet::Server, query.server},
                           {Facet::Tool, query.tool},
                           {Facet::Outcome, query.outcome}},
                          {query.since, query.until, query.after, query.limit}));
  filter.facets[Facet::Kind] = "tool_audit";
  if (!query.tool_call_id.empty()) {
    filter.body.emplace_back("tool_call_id", json::value(query.tool_call_id));
  }
  if (!query.approval_id.empty()) {
    filter.body.emplace_back("approval_id", json::value(query.approval_id));
  }
  if (query.terminal) filter.body.emplace_back("terminal", json::value(*query.terminal));
  return find(*body_->store, filter, core::audit_json);
}

Result<std::vector<AuditRecord>> Engine::records(const RecordQuery& query) {
  SALLYPORT_TRY(const std::vector<json::object> found, record_json(query));
  std::vector<AuditRecord> records;
  for (const json::object& object : found) {
    if (Result<AuditRecord> record = audit_record_from_json(object)) {
      records.push_back(std::move(*record));
    }
  }
  return records;
}

Result<std::vector<json::object>> Engine::events(const EventQuery& query) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  SALLYPORT_CHECK_OK(check_event_type(query.event_type));
  SALLYPORT_TRY(ledger::Filter filter,
                filter_of({{Facet::Call, query.call_id},
                           {Facet::Session, query.session_id},
                           {Facet::Run, query.run_id}},
                          {query.since, query.until, query.after, query.limit}));
  filter.facets[Facet::Kind] = "event";
  if (!query.event_type.empty()) filter.body.emplace_back("kind", json::value(query.event_type));
  if (!query.scope.empty()) {
    // All events but one have an agent as their scope.
    SALLYPORT_TRY(const bool instance, is_instance(*body_->store, query.scope));
    if (instance) {
      filter.body.emplace_back("runtime_instance_id", json::value(query.scope));
    } else {
      filter.facets[Facet::Agent] = query.scope;
    }
  }
  return find(*body_->store, filter, core::event_json);
}

Result<std::string> Engine::receipt(std::uint64_t sequence) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  SALLYPORT_TRY(const ledger::Receipt made, ledger::look_at(*body_->store, [&](auto& view) {
                  return ledger::make_receipt(view, sequence, true);
                }));
  return made.json();
}

std::string Engine::verifier_key() {
  std::string key;
  const Result<Visitors::Visit> visit = body_->visitors.enter();
  if (!visit) return key;
  (void)body_->store->read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const auto keys, ledger::key_history(view));
    key = keys.back().key.text();
    return {};
  });
  return key;
}

const std::string& Engine::policy_hash() const {
  return body_->policy_hash;
}

}  // namespace sallyport
