// What a server asks in the middle of a call. A server of sessions sends a request; a stateless one
// answers with what it needs, and is called again.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/plain_text.h"
#include "mcp/gateway.h"
#include "mcp/json_text.h"
#include "mcp/told.h"

namespace sallyport::mcp {

namespace {

// Of what a server asks for; its own words could be anything.
std::string_view feature_of(std::string_view method) {
  if (method == "sampling/createMessage") return "sampling";
  if (method == "elicitation/create") return "elicitation";
  return method == "roots/list" ? "roots" : "server_request";
}

bool asks_for_page(std::string_view params) {
  return find(params, {"mode"}) == "\"url\"";
}

// Who names no mode can show forms.
bool may_be_elicited(std::string_view params, const json::object& capabilities) {
  const json::value* const declared = capabilities.if_contains("elicitation");
  if (declared == nullptr) return false;
  const json::object* const modes = declared->if_object();
  const bool pages = modes != nullptr && modes->contains("url");
  return asks_for_page(params) ? pages : !pages || modes->contains("form");
}

// What a client would have to declare to be asked this.
json::object capability_for(std::string_view method, std::string_view params) {
  json::object wanted;
  if (method == "elicitation/create" && asks_for_page(params)) wanted["url"] = json::object();
  return {{feature_of(method), std::move(wanted)}};
}

}  // namespace

bool Gateway::may_be_asked(std::string_view method, std::string_view params,
                           const json::object& capabilities) const {
  if (method == "sampling/createMessage") return capabilities.contains("sampling");
  if (method == "elicitation/create") return may_be_elicited(params, capabilities);
  if (method == "roots/list") return capabilities.contains("roots");
  // Only a client of sessions can be asked something else.
  return client_era_ == Era::Legacy;
}

void Gateway::degraded(std::string_view feature) {
  if (bridge_.note(feature)) tasks_.start(bridge_.write());
}

void Gateway::decline(const Message& question) {
  degraded(feature_of(question.method));
  settings_.log(fmt::format("the server asks for `{}`, which the client cannot answer; declined",
                            core::plain_text(parts_.redactor, question.method)));
  if (question.method == "elicitation/create" && client_era_ == Era::Modern) {
    server_.send(result_text(question.id, R"({"action":"decline"})"));
    return;
  }
  server_.send(error_text(question.id, kMethodNotFound, "the client cannot be asked this"));
}

// For a stateless server: asks a client of sessions, and returns the result that it gave.
Task<std::string> Gateway::ask_client(std::string method, std::string params, std::string about) {
  if (!may_be_asked(method, params, client_capabilities_)) {
    degraded(feature_of(method));
    co_return fail(ErrorCode::NotFound,
                   fmt::format("the client did not declare what `{}` needs", method));
  }
  if (questions_.size() >= settings_.limits.requests) {
    co_return fail(ErrorCode::Exhausted, "too many questions wait");
  }
  SALLYPORT_CO_TRY(Message asked,
                   Message::read(request_text("0", method, params), settings_.limits.json()));
  if (!may_ask(asked)) co_return fail(ErrorCode::NotFound, unknown_method(method));
  SALLYPORT_CO_TRY(const std::string passed, co_await screen_.pass(method, std::move(asked)));
  params = std::string(find(passed, {"params"}).value_or("{}"));
  // Sessions tell by an id when a person has been to a page.
  const bool page = asks_for_page(params) && !find(params, {"elicitationId"});
  if (page) {
    params =
        with_member(params, "elicitationId", '"' + uuid7_text(parts_.clock, parts_.entropy) + '"');
  }
  const std::string id = std::to_string(++last_question_);
  const auto told = std::make_shared<Told>(executor_);
  questions_[id] = {.told = told};
  to_client(request_text(id, method, params), about);
  const std::optional<Message> answer = co_await told->wait(parts_.plans.current()->time_limit());
  if (!answer) {
    questions_.erase(id);
    to_client(notification_text("notifications/cancelled", fmt::format("{{\"requestId\":{}}}", id)),
              about);
    co_return fail(ErrorCode::Deadline, "the client did not answer");
  }
  if (answer->is_error()) co_return fail(ErrorCode::Conflict, "the client refused to answer");
  co_return std::string(answer->result_text());
}

// For a stateless client: the call waits here while the client is told what is wanted. False: no
// call is there whose client could answer.
bool Gateway::park(const Message& question) {
  std::shared_ptr<Governed> asked;
  for (const auto* const map : {&calls_, &parked_}) {
    for (const auto& [key, governed] : *map) {
      const std::string& method = governed->upstream->request().method;
      const bool may_wait =
          method == "tools/call" || method == "resources/read" || method == "prompts/get";
      if (!may_wait ||
          !may_be_asked(question.method, question.params_text(), governed->capabilities)) {
        continue;
      }
      if (!asked || asked->number < governed->number) asked = governed;
    }
  }
  if (!asked || asked->open.size() >= settings_.limits.waiting_calls) return false;
  const std::string key = fmt::format("q{}", ++last_question_);
  std::string wanted = "{\"method\":" + json::serialize(json::string(question.method));
  if (std::string params(question.params_text()); !params.empty()) {
    // Only sessions hear by an id that a person has been to a page.
    if (find(params, {"elicitationId"})) params = without_member(params, "elicitationId");
    wanted += ",\"params\":" + params;
  }
  asked->open[key] = {question.id, wanted + '}'};
  send_questions(*asked);
  return true;
}

void Gateway::send_questions(Governed& governed) {
  if (governed.client_id.empty()) return;
  const auto found = calls_.find(governed.client_id);
  if (found == calls_.end()) return;
  std::string wanted;
  for (const auto& [key, question] : governed.open) {
    if (!wanted.empty()) wanted += ',';
    append_canonical_string(wanted, key);
    wanted += ':' + question.second;
  }
  // Unguessable, and good for one answer.
  governed.state = uuid7_text(parts_.clock, parts_.entropy);
  parked_[governed.state] = found->second;
  const std::string id = std::exchange(governed.client_id, {});
  calls_.erase(found);
  tasks_.start(forget_parked(governed.state));
  to_client(result_text(id, fmt::format(R"({{"resultType":"input_required","inputRequests":{{{}}},)"
                                        R"("requestState":"{}"}})",
                                        wanted, governed.state)));
}

// A client that does not come back does not keep the call for ever.
Async<void> Gateway::forget_parked(std::string state) {
  const auto last = parts_.clock.steady() + settings_.limits.parked;
  while (!stopping_ && parked_.contains(state) && parts_.clock.steady() < last) {
    co_await bell_.wait("parked", std::chrono::milliseconds(1000), {});
  }
  const auto found = parked_.find(state);
  if (found == parked_.end() || stopping_) co_return;
  found->second->stop.request_stop();
  parked_.erase(found);
}

// True: the request goes on with a call that was parked, or pretends to.
bool Gateway::unpark(Message& request, const Grants& grants) {
  if (!bridges(Era::Modern, Era::Legacy)) return false;
  const json::object* const params = request.params();
  const auto state = params ? text_in(*params, "requestState") : std::nullopt;
  if (!state) return false;
  const auto found = parked_.find(std::string(*state));
  Message plain = request;
  json::object& cleaned = plain.value.as_object()["params"].as_object();
  cleaned.erase("requestState");
  cleaned.erase("inputResponses");
  const Result<Asked> asked = read_asked(plain);
  if (found == parked_.end() || !asked || asked->tool != found->second->call.tool ||
      asked->input != found->second->call.input || grants != found->second->call.grants) {
    to_client(error_text(request.id, kInvalidParams,
                         "`requestState` names no call that waits for this request"));
    return true;
  }
  const std::shared_ptr<Governed> governed = found->second;
  parked_.erase(found);
  bell_.ring("parked");
  governed->client_id = request.id;
  calls_[request.id] = governed;
  if (const auto token = find(request.params_text(), {"_meta", "progressToken"})) {
    governed->client_token = std::string(*token);
  }
  const std::string_view answers =
      find(request.params_text(), {"inputResponses"}).value_or(std::string_view("{}"));
  for (const auto& [key, answer] : members(answers)) {
    const auto question = governed->open.find(key);
    if (question == governed->open.end()) continue;
    server_.send(result_text(question->second.first, answer));
    governed->open.erase(question);
  }
  if (!governed->response.empty()) {
    to_client(with_member(governed->response, "id", request.id));
    calls_.erase(request.id);
  } else if (!governed->open.empty()) {
    send_questions(*governed);
  }
  return true;
}

// Between two stateless sides. What the server wants back is hostile once a client has had it in
// hand, so it goes out sealed: for this caller, this request, one use, and not for ever.
std::string Gateway::with_sealed_state(std::string response, const Governed& governed) {
  constexpr std::chrono::hours kLasts{1};
  if (!bridges(Era::Modern, Era::Modern)) return response;
  if (find(response, {"result", "resultType"}) != R"("input_required")") return response;
  if (auto refused = refused_questions(response, governed.capabilities)) return *refused;
  const auto carried = find(response, {"result", "requestState"});
  if (!carried) return response;
  const SealedState state{.id = uuid7_text(parts_.clock, parts_.entropy),
                          .principal = settings_.agent_id,
                          .session = settings_.session_id,
                          .request = governed.identity,
                          .expires = rfc3339(parts_.clock.wall() + kLasts),
                          .carried = std::string(*carried)};
  return edited(response, {{*carried, quoted(seal(parts_.recorder, state))}});
}

// An error instead of questions that the client of this call has not said it can answer.
std::optional<std::string> Gateway::refused_questions(std::string_view response,
                                                      const json::object& capabilities) {
  const auto asked = find(response, {"result", "inputRequests"});
  if (!asked) return std::nullopt;
  for (const auto& [key, question] : members(*asked)) {
    const Result<ParsedJson> read = parse_json(question, settings_.limits.json());
    const json::object* const object = read ? read->value.if_object() : nullptr;
    const auto method = object ? text_in(*object, "method") : std::nullopt;
    const std::string_view params = find(question, {"params"}).value_or("");
    if (!method || may_be_asked(*method, params, capabilities)) continue;
    degraded(feature_of(*method));
    return error_text({}, kMissingCapability,
                      "the server asks for what the client did not declare that it can answer",
                      json::object{{"requiredCapabilities", capability_for(*method, params)}});
  }
  return std::nullopt;
}

// True: it was answered, because what it brings was not given here.
bool Gateway::refuse_foreign_state(const Message& request) {
  const json::object* const params = request.params();
  if (params == nullptr || !params->contains("requestState")) return false;
  if (client_era_ != Era::Modern || server_era_ == Era::Legacy) return false;
  to_client(error_text(request.id, kInvalidParams,
                       "`requestState` was not given here; call again without it"));
  return true;
}

Async<void> Gateway::go_on_with(Message request, Grants grants, SealedState state) {
  const Result<void> used = co_await use_once(parts_.recorder, state);
  if (relayed_.erase(request.id) == 0) co_return;  // cancelled meanwhile
  const auto sealed = find(request.text, {"params", "requestState"});
  Result<Message> opened =
      Message::read(edited(request.text, {{*sealed, state.carried}}), settings_.limits.json());
  if (used && opened) co_return begin_call(std::move(*opened), std::move(grants));
  to_client(
      error_text(request.id, kInvalidParams, used ? opened.error().message : used.error().message));
}

}  // namespace sallyport::mcp
