#include "mcp/call/parked_calls.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/uuid.h"
#include "mcp/message/json_text.h"
#include "mcp/server/server_questions.h"

namespace sallyport::mcp {

namespace {

using State = HeldCall::State;

constexpr const char* kParked = "parked";

}  // namespace

CallDesk::Held ParkedCalls::to_ask(std::string_view method, std::string_view params) const {
  CallDesk::Held newest;
  for (const CallDesk::Held& call : context_.desk.in(State::Running, State::Parked)) {
    const std::string& runs = call->upstream->request().method;
    const bool may_wait = runs == "tools/call" || runs == "resources/read" || runs == "prompts/get";
    if (!may_wait || !may_be_asked(context_.client.era(), method, params, call->capabilities)) {
      continue;
    }
    if (!newest || newest->number < call->number) newest = call;
  }
  if (newest && newest->open.size() >= context_.settings.limits.waiting_calls) return nullptr;
  return newest;
}

Task<Message> ParkedCalls::park(std::string method, std::string params, std::stop_token cancel) {
  const CallDesk::Held call = to_ask(method, params);
  if (!call) co_return fail(ErrorCode::NotFound, "no open call has a client that can answer this");
  // The roots are asked for once in a call.
  const bool lists_roots = method == "roots/list";
  if (lists_roots && !call->roots.empty()) {
    co_return Message::make_answer(call->roots, context_.settings.limits.json());
  }
  const std::string key = fmt::format("q{}", context_.client.next_number());
  std::string wanted = "{\"method\":" + json::serialize(json::string(method));
  if (!params.empty()) {
    // Only stateful servers report by an id that a person has visited a page.
    if (find(params, {"elicitationId"})) params = without_member(params, "elicitationId");
    wanted += ",\"params\":" + params;
  }
  const auto awaited = std::make_shared<AwaitedAnswer>(context_.executor);
  call->open[key] = {awaited, wanted + '}'};
  send_questions(call);
  const std::stop_callback on_stop(cancel, [awaited] { awaited->stop(); });
  std::optional<Message> answer =
      co_await awaited->wait(context_.parts.plans.current()->time_limit());
  call->open.erase(key);
  if (!answer) co_return fail(ErrorCode::Deadline, "the client did not answer");
  if (lists_roots) call->roots = answer->result_text();
  co_return std::move(*answer);
}

void ParkedCalls::send_questions(const CallDesk::Held& call) {
  const std::string id = call->client_id();
  // Unguessable, and valid for one answer.
  const std::string state = uuid7_text(context_.parts.clock, context_.parts.entropy);
  if (id.empty() || !context_.desk.move(call, State::Parked, state)) return;
  std::string wanted;
  for (const auto& [key, question] : call->open) {
    if (!wanted.empty()) wanted += ',';
    append_canonical_string(wanted, key);
    wanted += ':' + question.text;
  }
  context_.tasks.start(forget(state));
  context_.client.send(
      result_text(id, fmt::format(R"({{"resultType":"input_required","inputRequests":{{{}}},)"
                                  R"("requestState":"{}"}})",
                                  wanted, state)));
}

// Ends the wait for a client that does not return.
Async<void> ParkedCalls::forget(std::string state) {
  const auto last = context_.parts.clock.steady() + context_.settings.limits.parked;
  while (!stopping_ && context_.desk.find(State::Parked, state) &&
         context_.parts.clock.steady() < last) {
    co_await context_.bell.wait(kParked, std::chrono::milliseconds(1000), {});
  }
  const CallDesk::Held call = context_.desk.find(State::Parked, state);
  if (!call || stopping_) co_return;
  call->stop.request_stop();
  context_.desk.move(call, State::Left);
}

void ParkedCalls::stop() {
  stopping_ = true;
  context_.bell.ring(kParked);
}

bool ParkedCalls::is_about_parked(const Message& request) const {
  const json::object* const params = request.params();
  return context_.bridges(Era::Modern, Era::Legacy) && params != nullptr &&
         text_in(*params, "requestState").has_value();
}

void ParkedCalls::go_on(const Message& request, const Grants& grants) {
  const std::string state(text_in(*request.params(), "requestState").value_or(""));
  const CallDesk::Held call = context_.desk.find(State::Parked, state);
  Message plain = request;
  json::object& cleaned = plain.value.as_object()["params"].as_object();
  cleaned.erase("requestState");
  cleaned.erase("inputResponses");
  const Result<CallParams> call_params = read_call_params(plain);
  if (!call || !call_params || call_params->tool != call->call.tool ||
      call_params->input != call->call.input || grants != call->call.grants) {
    return context_.client.refuse(request, kInvalidParams,
                                  "`requestState` names no call that waits for this request");
  }
  context_.desk.move(call, State::Running, request.id);
  context_.bell.ring(kParked);
  if (const auto token = find(request.params_text(), {"_meta", "progressToken"})) {
    call->client_token = std::string(*token);
  }
  take_answers(*call, request);
  if (!call->response.empty()) {
    context_.client.send(with_member(call->response, "id", request.id));
    context_.desk.move(call, State::Left);
  } else if (!call->open.empty()) {
    send_questions(call);
  }
}

void ParkedCalls::take_answers(HeldCall& call, const Message& request) {
  const std::string_view answers =
      find(request.params_text(), {"inputResponses"}).value_or(std::string_view("{}"));
  for (const auto& [key, answer] : members(answers)) {
    const auto question = call.open.find(key);
    if (question == call.open.end()) continue;
    Result<Message> given = Message::make_answer(answer, context_.settings.limits.json());
    if (given) question->second.answer->put(std::move(*given));
    call.open.erase(question);
  }
}

}  // namespace sallyport::mcp
