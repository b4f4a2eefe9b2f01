// What a server asks in the middle of a call. A server of sessions sends a request; a stateless one
// answers with what it needs, and is called again.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/record/plain_text.h"
#include "mcp/answers.h"
#include "mcp/approval_form.h"
#include "mcp/client_question.h"
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

constexpr std::string_view kQuestionDenied =
    "the server wants to ask the client something that the policy denies; the ledger says what";

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
  if (asking_.size() >= settings_.limits.requests) {
    co_return fail(ErrorCode::Exhausted, "too many questions wait");
  }
  // Sessions tell by an id when a person has been to a page.
  if (asks_for_page(params) && !find(params, {"elicitationId"})) {
    params =
        with_member(params, "elicitationId", '"' + uuid7_text(parts_.clock, parts_.entropy) + '"');
  }
  SALLYPORT_CO_TRY(Message asked,
                   Message::read(request_text("0", method, params), settings_.limits.json()));
  if (!may_ask(asked)) co_return fail(ErrorCode::NotFound, unknown_method(method));
  SALLYPORT_CO_TRY(const std::string passed, co_await screen_.pass(method, std::move(asked)));
  SALLYPORT_CO_TRY(Message shown, Message::read(passed, settings_.limits.json()));
  const auto asking = std::make_shared<Asking>();
  asking->about = std::move(about);
  // Ids of servers are JSON, which this is not.
  const std::string key = fmt::format("stateless {}", ++last_question_);
  asking_[key] = asking;
  const std::string answer = co_await ask_governed(std::move(shown), asking);
  asking_.erase(key);
  const auto result = find(answer, {"result"});
  if (result) co_return std::string(*result);
  const Result<ParsedJson> why = parse_json(find(answer, {"error", "message"}).value_or("\"\""));
  const std::string words =
      why && why->value.is_string() ? std::string(why->value.get_string()) : std::string();
  co_return fail(ErrorCode::Conflict, "the client refused to answer: " + words);
}

// A server of sessions asks.
Async<void> Gateway::answer_server(Message request, std::shared_ptr<Asking> asking) {
  const std::uint64_t generation = generation_;
  const std::string id = request.id;
  std::string answer;
  const Result<std::string> passed = co_await screen_.pass(request.method, std::move(request));
  Result<Message> shown =
      passed ? Message::read(*passed, settings_.limits.json()) : std::unexpected(passed.error());
  if (shown) {
    answer = co_await ask_governed(std::move(*shown), asking);
  } else {
    answer = error_text("0", kDenied, shown.error().message);
  }
  if (const auto found = asking_.find(id); found != asking_.end() && found->second == asking) {
    asking_.erase(found);
  }
  // The server withdrew the question, or a new server process runs that never asked it.
  if (asking->stop.stop_requested() || generation != generation_) co_return;
  server_.send(with_member(answer, "id", id));
}

// A request of the server as a call of its own, in the session in whose course it comes.
Call Gateway::question_call(const Asked& asked) const {
  return {.agent_id = settings_.agent_id,
          .session_id = settings_.session_id,
          .server = settings_.name,
          .tool = asked.tool,
          .input = asked.input,
          .raw_input = asked.raw_input,
          .agent_name = "server " + settings_.name};
}

// The response, under an id that means nothing.
Async<std::string> Gateway::ask_governed(Message request, std::shared_ptr<Asking> asking) {
  const std::string method = request.method;
  Result<Asked> asked = read_asked(request);
  if (!asked) co_return error_text("0", kInvalidParams, asked.error().message);
  Call call = question_call(*asked);
  const auto ask = [this, asking, method, frame = request.text](std::string params,
                                                                std::stop_token cancel) {
    if (method == "elicitation/create") params = marked_form(params, settings_.name);
    return put_question(frame, method, std::move(params), asking, std::move(cancel));
  };
  const auto question = std::make_shared<ClientQuestion>(std::move(request), std::move(*asked), ask,
                                                         weak_from_this().lock());
  core::Caller caller{.cancel = asking->stop.get_token()};
  const Result<Answer> answer =
      co_await parts_.governor.run(std::move(call), question, std::move(caller));
  if (!answer) co_return error_text("0", kNotRecorded, answer.error().message);
  const Envelope& released = answer->released;
  const bool shown = released.kind == Envelope::Kind::Value || released.code.has_value();
  if (shown && question->answer()) co_return question->answer()->showing(released, "0");
  co_return R"({"jsonrpc":"2.0","id":0,"error":)" + notice_error(*answer) + '}';
}

// Puts it to the client, and waits for the answer.
Task<Message> Gateway::put_question(std::string frame, std::string method, std::string params,
                                    std::shared_ptr<Asking> asking, std::stop_token cancel) {
  if (client_era_ == Era::Modern) {
    co_return co_await park(std::move(method), std::move(params), std::move(cancel));
  }
  const std::string id = std::to_string(++last_question_);
  const auto told = std::make_shared<Told>(executor_);
  questions_[id] = told;
  if (!params.empty()) frame = with_member(frame, "params", params);
  to_client(with_member(frame, "id", id), asking->about);
  const std::stop_callback on_stop(cancel, [told] { told->stop(); });
  std::optional<Message> answer = co_await told->wait(parts_.plans.current()->time_limit());
  if (answer) co_return std::move(*answer);
  questions_.erase(id);
  const std::string why = asking->why.empty() ? "{}" : asking->why;
  to_client(notification_text("notifications/cancelled", with_member(why, "requestId", id)),
            asking->about);
  co_return fail(ErrorCode::Deadline, "the client did not answer");
}

// The newest call whose stateless client could answer; null: there is none.
std::shared_ptr<Gateway::Governed> Gateway::call_to_ask(std::string_view method,
                                                        std::string_view params) const {
  std::shared_ptr<Governed> asked;
  for (const auto* const map : {&calls_, &parked_}) {
    for (const auto& [key, governed] : *map) {
      const std::string& runs = governed->upstream->request().method;
      const bool may_wait =
          runs == "tools/call" || runs == "resources/read" || runs == "prompts/get";
      if (!may_wait || !may_be_asked(method, params, governed->capabilities)) continue;
      if (!asked || asked->number < governed->number) asked = governed;
    }
  }
  if (asked && asked->open.size() >= settings_.limits.waiting_calls) return nullptr;
  return asked;
}

// For a stateless client: the call waits here while the client is told what is wanted.
Task<Message> Gateway::park(std::string method, std::string params, std::stop_token cancel) {
  const std::shared_ptr<Governed> asked = call_to_ask(method, params);
  if (!asked) co_return fail(ErrorCode::NotFound, "no call is there whose client could answer");
  const std::string key = fmt::format("q{}", ++last_question_);
  std::string wanted = "{\"method\":" + json::serialize(json::string(method));
  if (!params.empty()) {
    // Only sessions hear by an id that a person has been to a page.
    if (find(params, {"elicitationId"})) params = without_member(params, "elicitationId");
    wanted += ",\"params\":" + params;
  }
  const auto told = std::make_shared<Told>(executor_);
  asked->open[key] = {told, wanted + '}'};
  send_questions(*asked);
  const std::stop_callback on_stop(cancel, [told] { told->stop(); });
  std::optional<Message> answer = co_await told->wait(parts_.plans.current()->time_limit());
  asked->open.erase(key);
  if (answer) co_return std::move(*answer);
  co_return fail(ErrorCode::Deadline, "the client did not answer");
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
    const Result<Message> given = Message::read(result_text("0", answer), settings_.limits.json());
    if (given) question->second.first->hear(*given);
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

// Of what a server wants to know in a result: what the client is given is governed and recorded,
// and forms say whose they are. An error instead of a response whose questions are denied.
Async<std::string> Gateway::hand_over(std::string response) {
  constexpr std::string_view kPageRequired = "-32042";
  const bool pages = find(response, {"error", "code"}) == kPageRequired;
  const auto asked = find(response, {"result", "inputRequests"});
  const auto listed = find(response, {"error", "data", "elicitations"});
  std::vector<Edit> edits;
  if (client_era_ == Era::Modern && asked) {
    for (const auto& [key, question] : members(*asked)) {
      if (!co_await hand_one_over(key, question))
        co_return error_text({}, kDenied, kQuestionDenied);
      const auto params = find(question, {"params"});
      if (params && find(question, {"method"}) == "\"elicitation/create\"") {
        edits.push_back({*params, marked_form(*params, settings_.name)});
      }
    }
  } else if (pages && listed) {
    for (const std::string_view page : elements(*listed)) {
      const std::string params = with_member(page, "mode", "\"url\"");
      if (!co_await hand_one_over({}, request_text("0", "elicitation/create", params))) {
        co_return error_text({}, kDenied, kQuestionDenied);
      }
      edits.push_back({page, marked_form(page, settings_.name)});
    }
  }
  co_return edits.empty() ? response : edited(response, std::move(edits));
}

// False: it is denied.
Async<bool> Gateway::hand_one_over(std::string_view key, std::string_view question) {
  // These keys are ours: an answer under one of them is an answer to us.
  if (key.starts_with("sallyport")) co_return false;
  const Result<ParsedJson> method = parse_json(find(question, {"method"}).value_or("null"));
  if (!method || !method->value.is_string()) co_return false;
  const std::string name(method->value.get_string());
  const std::string params(find(question, {"params"}).value_or("{}"));
  const Result<Message> request =
      Message::read(request_text("0", name, params), settings_.limits.json());
  if (!request || !may_ask(*request)) co_return false;
  const Result<Asked> asked = read_asked(*request);
  if (!asked) co_return false;
  const Result<Answer> answer =
      co_await parts_.governor.run(question_call(*asked), std::make_shared<HandedQuestion>());
  co_return answer && answer->outcome.kind == Outcome::Kind::Completed && answer->result.success;
}

// Does a stateless client bring answers to what a stateless server wanted to know?
bool Gateway::brings_answers(const Message& request) const {
  const json::object* const params = request.params();
  const json::object* const answers = params ? object_in(*params, "inputResponses") : nullptr;
  if (answers == nullptr || client_era_ != Era::Modern || server_era_ == Era::Legacy) return false;
  // The answer to the gate's own question is not forwarded.
  return !(answers->size() == 1 && answers->contains(kApprovalKey));
}

// The answers pass the second door like a result, and are on record, before the server gets them.
Async<void> Gateway::pass_answers(Message request) {
  const std::string id = request.id;
  const auto given = find(request.params_text(), {"inputResponses"});
  Result<Message> answers = Message::read(result_text("0", *given), settings_.limits.json());
  Result<std::string> passed = answers
                                   ? co_await screen_.pass("inputResponses", std::move(*answers))
                                   : std::unexpected(answers.error());
  std::optional<Error> wrong;
  if (!passed) wrong = passed.error();
  if (!wrong) {
    const std::string shown(find(*passed, {"result"}).value_or("{}"));
    const Result<ParsedJson> read = parse_json(shown, settings_.limits.json());
    std::vector<core::Draft> drafts;
    drafts.push_back({.kind = core::Kind::Topic,
                      .subject = {.session_id = settings_.session_id,
                                  .agent_id = settings_.agent_id,
                                  .server = settings_.name},
                      .topic = "mcp",
                      .body = {{"record", "input_responses"},
                               {"method", request.method},
                               {"payload", read ? read->value : json::value()}}});
    const auto written =
        co_await parts_.recorder.append(std::move(drafts), core::Urgency::Announces);
    if (!written) wrong = written.error();
    Result<Message> changed =
        Message::read(with_member(request.text, "params",
                                  with_member(request.params_text(), "inputResponses", shown)),
                      settings_.limits.json());
    if (!changed) wrong = changed.error();
    if (!wrong) request = std::move(*changed);
  }
  if (relayed_.erase(id) == 0) co_return;  // cancelled meanwhile
  if (!wrong) co_return go_on_asking(std::move(request));
  to_client(error_text(id, kDenied, wrong->message));
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
