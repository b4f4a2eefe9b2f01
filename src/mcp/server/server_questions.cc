#include "mcp/server/server_questions.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/record/plain_text.h"
#include "mcp/client/client_question.h"
#include "mcp/message/json_text.h"
#include "mcp/message/notices.h"

namespace sallyport::mcp {

namespace {

bool asks_for_page(std::string_view params) {
  return find(params, {"mode"}) == "\"url\"";
}

// Processes of a server count their questions from the same number.
std::string key_of(std::uint64_t generation, const std::string& id) {
  return fmt::format("{} {}", generation, id);
}

// A client that names no mode can show forms.
bool may_be_elicited(std::string_view params, const json::object& capabilities) {
  const json::value* const declared = capabilities.if_contains("elicitation");
  if (declared == nullptr) return false;
  const json::object* const modes = declared->if_object();
  const bool pages = modes != nullptr && modes->contains("url");
  return asks_for_page(params) ? pages : !pages || modes->contains("form");
}

}  // namespace

// An unknown method may be any text, so it gets one common name.
std::string_view feature_of(std::string_view method) {
  if (method == "sampling/createMessage") return "sampling";
  if (method == "elicitation/create") return "elicitation";
  return method == "roots/list" ? "roots" : "server_request";
}

json::object capability_for(std::string_view method, std::string_view params) {
  json::object wanted;
  if (method == "elicitation/create" && asks_for_page(params)) wanted["url"] = json::object();
  return {{feature_of(method), std::move(wanted)}};
}

bool may_be_asked(Era era, std::string_view method, std::string_view params,
                  const json::object& capabilities) {
  if (method == "sampling/createMessage") return capabilities.contains("sampling");
  if (method == "elicitation/create") return may_be_elicited(params, capabilities);
  if (method == "roots/list") return capabilities.contains("roots");
  // Other methods exist only for a client of sessions.
  return era == Era::Legacy;
}

Call question_call(const GatewaySettings& settings, const CallParams& call_params) {
  return {.agent_id = settings.agent_id,
          .session_id = settings.session_id,
          .server = settings.name,
          .tool = call_params.tool,
          .input = call_params.input,
          .raw_input = call_params.raw_input,
          .agent_name = "server " + settings.name};
}

Async<void> ServerQuestions::on_request(Message request) {
  const ClientProfile& client = context_.client.profile();
  const std::string_view params = request.params_text();
  const std::uint64_t generation = context_.server.opening().generation();
  const std::string key = key_of(generation, request.id);
  const bool can = client.era == Era::Modern
                       ? parked_.to_ask(request.method, params) != nullptr
                       : may_be_asked(client.era, request.method, params, client.capabilities);
  if (!can || asking_.size() >= context_.settings.limits.requests || asking_.contains(key)) {
    decline(request);
    co_return;
  }
  const auto asking = std::make_shared<Asking>();
  asking->generation = generation;
  if (const CallDesk::Held newest = context_.desk.newest()) asking->about = newest->client_id();
  asking_[key] = asking;
  context_.tasks.start(answer_server(std::move(request), asking));
  co_await context_.client.room();
}

Async<void> ServerQuestions::take_back(Message notification) {
  const auto found =
      asking_.find(key_of(context_.server.opening().generation(), cancelled_id(notification)));
  if (found == asking_.end()) co_return;
  const Shared asking = found->second;
  const std::string method = notification.method;
  const Result<Message> passed = co_await context_.door.release(method, std::move(notification),
                                                                context_.desk.holds_granted());
  if (passed) asking->why = std::string(find(passed->text, {"params"}).value_or("{}"));
  asking->stop.request_stop();
}

void ServerQuestions::stop_all() {
  for (const auto& [key, asking] : std::map(asking_)) asking->stop.request_stop();
}

void ServerQuestions::stop_those_of_server() {
  for (const auto& [key, asking] : std::map(asking_)) {
    if (asking->generation != 0) asking->stop.request_stop();
  }
}

void ServerQuestions::decline(const Message& question) {
  context_.door.note_degraded(feature_of(question.method));
  context_.settings.log(
      fmt::format("the server asks for `{}`, which the client cannot answer; declined",
                  core::plain_text(context_.parts.redactor, question.method)));
  const bool form = question.method == "elicitation/create" && context_.client.era() == Era::Modern;
  context_.server.link().send(
      form ? result_text(question.id, R"({"action":"decline"})")
           : error_text(question.id, kMethodNotFound, "the client cannot be asked this"));
}

std::optional<Message> ServerQuestions::refusal(std::string_view questions,
                                                const Message& request) const {
  if (!context_.bridges(Era::Modern, Era::Modern)) return std::nullopt;
  const json::object* const meta = request.meta();
  const json::object* const declared = meta ? object_in(*meta, kMetaCapabilities) : nullptr;
  const std::string_view wanted = find(questions, {"inputRequests"}).value_or("{}");
  for (const auto& [key, question] : members(wanted)) {
    const Result<ParsedJson> read = parse_json(question, context_.settings.limits.json());
    const json::object* const object = read ? read->value.if_object() : nullptr;
    const auto method = object ? text_in(*object, "method") : std::nullopt;
    const std::string_view params = find(question, {"params"}).value_or("");
    if (!method || may_be_asked(context_.client.era(), *method, params,
                                declared ? *declared : json::object())) {
      continue;
    }
    context_.door.note_degraded(feature_of(*method));
    Result<Message> refused = Message::read(
        error_text("0", kMissingCapability,
                   "the server asks for what the client did not declare that it can answer",
                   json::object{{"requiredCapabilities", capability_for(*method, params)}}),
        context_.settings.limits.json());
    if (refused) return std::move(*refused);
  }
  return std::nullopt;
}

Task<CallClient::Given> ServerQuestions::ask(std::string method, std::string params,
                                             std::string about) {
  const ClientProfile& client = context_.client.profile();
  if (!may_be_asked(client.era, method, params, client.capabilities)) {
    context_.door.note_degraded(feature_of(method));
    co_return fail(ErrorCode::NotFound,
                   fmt::format("the client did not declare what `{}` needs", method));
  }
  if (asking_.size() >= context_.settings.limits.requests) {
    co_return fail(ErrorCode::Exhausted, "too many questions wait");
  }
  // In sessions, an id tells when a person has visited a page.
  if (asks_for_page(params) && !find(params, {"elicitationId"})) {
    params = with_member(params, "elicitationId",
                         '"' + uuid7_text(context_.parts.clock, context_.parts.entropy) + '"');
  }
  std::string page(asks_for_page(params) ? *find(params, {"elicitationId"}) : "");
  SALLYPORT_CO_TRY(Message question,
                   Message::make_request(method, params, context_.settings.limits.json()));
  if (!context_.door.may_ask(Side::Server, question)) {
    co_return fail(ErrorCode::NotFound, unknown_method(method));
  }
  SALLYPORT_CO_TRY(Message shown, co_await context_.door.release(method, std::move(question),
                                                                 context_.desk.holds_granted()));
  const auto asking = std::make_shared<Asking>();
  asking->about = std::move(about);
  const std::string key = fmt::format("stateless {}", context_.client.next_number());
  asking_[key] = asking;
  const std::string answer = co_await govern(std::move(shown), asking);
  asking_.erase(key);
  const auto result = find(answer, {"result"});
  if (result) {
    if (find(*result, {"action"}) != R"("accept")") page.clear();
    co_return Given{std::string(*result), std::move(page)};
  }
  const Result<ParsedJson> why = parse_json(find(answer, {"error", "message"}).value_or("\"\""));
  const std::string words =
      why && why->value.is_string() ? std::string(why->value.get_string()) : std::string();
  co_return fail(ErrorCode::Conflict, "the client refused to answer: " + words);
}

void ServerQuestions::page_done(const std::string& page, const std::string& about) {
  context_.client.send(
      notification_text("notifications/elicitation/complete", "{\"elicitationId\":" + page + '}'),
      about);
}

// Answers a question of a server of sessions.
Async<void> ServerQuestions::answer_server(Message request, Shared asking) {
  const std::string id = request.id;
  const std::string key = key_of(asking->generation, id);
  const std::string method = request.method;
  Result<Message> shown =
      co_await context_.door.release(method, std::move(request), context_.desk.holds_granted());
  const std::string answer = shown ? co_await govern(std::move(*shown), asking)
                                   : error_text("0", kDenied, shown.error().message);
  if (const auto found = asking_.find(key); found != asking_.end() && found->second == asking) {
    asking_.erase(found);
  }
  // The server withdrew the question, or a new server process runs that never asked it.
  const bool other = asking->generation != context_.server.opening().generation();
  if (asking->stop.stop_requested() || other) co_return;
  context_.server.link().send(with_member(answer, "id", id));
}

// The response; its id is unused.
Async<std::string> ServerQuestions::govern(Message request, Shared asking) {
  const std::string method = request.method;
  Result<CallParams> call_params = read_call_params(request);
  if (!call_params) co_return error_text("0", kInvalidParams, call_params.error().message);
  Call call = question_call(context_.settings, *call_params);
  const auto ask = [this, asking, method, frame = request.text](std::string params,
                                                                std::stop_token cancel) {
    if (method == "elicitation/create") params = marked_form(params, context_.settings.name);
    return put_to_client(frame, method, std::move(params), asking, std::move(cancel));
  };
  const auto question = std::make_shared<ClientQuestion>(
      std::move(request), std::move(*call_params), ask, context_.self.lock());
  core::Caller caller{.cancel = asking->stop.get_token()};
  const Result<Answer> answer =
      co_await context_.parts.governor.run(std::move(call), question, std::move(caller));
  if (!answer) co_return error_text("0", kNotRecorded, answer.error().message);
  const Envelope& released = answer->released;
  const bool shown = released.kind == Envelope::Kind::Value || released.code.has_value();
  if (shown && question->answer()) co_return question->answer()->showing(released, "0");
  co_return R"({"jsonrpc":"2.0","id":0,"error":)" + notice_error(*answer) + '}';
}

// Sends it to the client, and waits for the answer.
Task<Message> ServerQuestions::put_to_client(std::string frame, std::string method,
                                             std::string params, Shared asking,
                                             std::stop_token cancel) {
  if (context_.client.era() == Era::Modern) {
    co_return co_await parked_.park(std::move(method), std::move(params), std::move(cancel));
  }
  const auto [id, awaited] = context_.client.open_question();
  if (!params.empty()) frame = with_member(frame, "params", params);
  context_.client.send(with_member(frame, "id", id), asking->about);
  const std::stop_callback on_stop(cancel, [awaited = awaited] { awaited->stop(); });
  std::optional<Message> answer =
      co_await awaited->wait(context_.parts.plans.current()->time_limit());
  if (answer) co_return std::move(*answer);
  (void)context_.client.close_question(id);
  const std::string why = asking->why.empty() ? "{}" : asking->why;
  context_.client.send(
      notification_text("notifications/cancelled", with_member(why, "requestId", id)),
      asking->about);
  co_return fail(ErrorCode::Deadline, "the client did not answer");
}

}  // namespace sallyport::mcp
