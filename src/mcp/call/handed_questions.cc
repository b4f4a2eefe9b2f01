#include "mcp/call/handed_questions.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "base/uuid.h"
#include "mcp/call/approval_form.h"
#include "mcp/client/client_question.h"
#include "mcp/message/json_text.h"
#include "mcp/server/server_questions.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kQuestionDenied =
    "the server wants to ask the client something that the policy denies; the ledger says what";
constexpr std::string_view kPageRequired = "-32042";

std::optional<std::string_view> state_in(const Message& request) {
  const json::object* const params = request.params();
  return params ? text_in(*params, "requestState") : std::nullopt;
}

}  // namespace

Async<std::string> HandedQuestions::hand_over(std::string given, CallDesk::Held call) {
  const std::string response = sealed(std::move(given), *call);
  const bool pages = find(response, {"error", "code"}) == kPageRequired;
  const auto asked = find(response, {"result", "inputRequests"});
  const auto listed = find(response, {"error", "data", "elicitations"});
  std::vector<Edit> edits;
  if (context_.client.era() == Era::Modern && asked) {
    for (const auto& [key, question] : members(*asked)) {
      if (!co_await govern(key, question)) co_return error_text({}, kDenied, kQuestionDenied);
      const auto params = find(question, {"params"});
      if (params && find(question, {"method"}) == "\"elicitation/create\"") {
        edits.push_back({*params, marked_form(*params, context_.settings.name)});
      }
    }
  } else if (pages && listed) {
    for (const std::string_view page : elements(*listed)) {
      const std::string params = with_member(page, "mode", "\"url\"");
      if (!co_await govern({}, request_text("0", "elicitation/create", params))) {
        co_return error_text({}, kDenied, kQuestionDenied);
      }
      edits.push_back({page, marked_form(page, context_.settings.name)});
    }
  }
  co_return edits.empty() ? response : edited(response, std::move(edits));
}

// Between two stateless sides. What the server wants back is hostile once a client has had it in
// hand, so it goes out sealed: for this caller, this request, one use, and not for ever.
std::string HandedQuestions::sealed(std::string response, const HeldCall& call) const {
  constexpr std::chrono::hours kLasts{1};
  const GatewayParts& parts = context_.parts;
  if (!context_.bridges(Era::Modern, Era::Modern)) return response;
  if (find(response, {"result", "resultType"}) != R"("input_required")") return response;
  if (auto refused = refusal(response, call.capabilities)) return *refused;
  const auto carried = find(response, {"result", "requestState"});
  if (!carried) return response;
  const SealedState state{.id = uuid7_text(parts.clock, parts.entropy),
                          .principal = context_.settings.agent_id,
                          .session = context_.settings.session_id,
                          .request = call.identity(),
                          .expires = rfc3339(parts.clock.wall() + kLasts),
                          .carried = std::string(*carried)};
  return edited(response, {{*carried, json_quoted(seal(parts.recorder, state))}});
}

// An error instead of questions that the client of this call has not said it can answer.
std::optional<std::string> HandedQuestions::refusal(std::string_view response,
                                                    const json::object& capabilities) const {
  const auto asked = find(response, {"result", "inputRequests"});
  if (!asked) return std::nullopt;
  for (const auto& [key, question] : members(*asked)) {
    const Result<ParsedJson> read = parse_json(question, context_.settings.limits.json());
    const json::object* const object = read ? read->value.if_object() : nullptr;
    const auto method = object ? text_in(*object, "method") : std::nullopt;
    const std::string_view params = find(question, {"params"}).value_or("");
    if (!method || may_be_asked(context_.client.era(), *method, params, capabilities)) continue;
    context_.door.note_degraded(feature_of(*method));
    return error_text({}, kMissingCapability,
                      "the server asks for what the client did not declare that it can answer",
                      json::object{{"requiredCapabilities", capability_for(*method, params)}});
  }
  return std::nullopt;
}

// False: it is denied.
Async<bool> HandedQuestions::govern(std::string_view key, std::string_view question) {
  // These keys are ours: an answer under one of them is an answer to us.
  if (key.starts_with("sallyport")) co_return false;
  const Result<ParsedJson> method = parse_json(find(question, {"method"}).value_or("null"));
  if (!method || !method->value.is_string()) co_return false;
  const std::string name(method->value.get_string());
  const std::string params(find(question, {"params"}).value_or("{}"));
  const Result<Message> request =
      Message::read(request_text("0", name, params), context_.settings.limits.json());
  if (!request || !context_.door.may_ask(Side::Server, *request)) co_return false;
  const Result<CallParams> asked = read_call_params(*request);
  if (!asked) co_return false;
  const Result<Answer> answer = co_await context_.parts.governor.run(
      question_call(context_.settings, *asked), std::make_shared<HandedQuestion>());
  co_return answer && answer->outcome.kind == Outcome::Kind::Completed && answer->result.success;
}

bool HandedQuestions::brings_answers(const Message& request) const {
  const json::object* const params = request.params();
  const json::object* const answers = params ? object_in(*params, "inputResponses") : nullptr;
  if (answers == nullptr || context_.client.era() != Era::Modern ||
      context_.server.opening().era() == Era::Legacy) {
    return false;
  }
  // The answer to the gate's own question is not forwarded.
  return !(answers->size() == 1 && answers->contains(kApprovalKey));
}

// They pass the second door like a result, and are on record, before the server gets them.
Task<Message> HandedQuestions::with_answers(Message request) {
  const JsonLimits limits = context_.settings.limits.json();
  const auto given = find(request.params_text(), {"inputResponses"});
  SALLYPORT_CO_TRY(Message answers, Message::read(result_text("0", *given), limits));
  SALLYPORT_CO_TRY(const Message passed,
                   co_await context_.door.release("inputResponses", std::move(answers)));
  const std::string_view shown = passed.result_text();
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Topic,
                    .subject = context_.subject(),
                    .topic = "mcp",
                    .body = {{"record", "input_responses"},
                             {"method", request.method},
                             {"payload", passed.object().at("result")}}});
  SALLYPORT_CO_TRY(
      [[maybe_unused]] const auto written,
      co_await context_.parts.recorder.append(std::move(drafts), core::Urgency::Announces));
  co_return Message::read(with_member(request.text, "params",
                                      with_member(request.params_text(), "inputResponses", shown)),
                          limits);
}

bool HandedQuestions::brings_state(const Message& request) const {
  const auto state = state_in(request);
  return state && is_sealed(*state);
}

Result<SealedState> HandedQuestions::state_of(const Message& request, const Grants& grants) const {
  SALLYPORT_TRY(SealedState state,
                unseal(context_.parts.recorder, *state_in(request), context_.parts.clock.wall()));
  const Result<CallParams> asked = read_call_params(request);
  // A stateless server is as old as its requests: what it gave is good in every session.
  const bool here = !state.carried.empty() || state.session == context_.settings.session_id;
  if (here && asked && state.principal == context_.settings.agent_id &&
      state.request == identity_of(request, *asked, grants)) {
    return state;
  }
  return fail(ErrorCode::InvalidInput,
              "`requestState` belongs to another request; call again without it");
}

bool HandedQuestions::brings_foreign_state(const Message& request) const {
  const json::object* const params = request.params();
  return params != nullptr && params->contains("requestState") &&
         context_.client.era() == Era::Modern && context_.server.opening().era() != Era::Legacy;
}

Task<Message> HandedQuestions::with_own_state(Message request, SealedState state) {
  SALLYPORT_CO_CHECK_OK(co_await use_once(context_.parts.recorder, state));
  const auto sealed_text = find(request.text, {"params", "requestState"});
  co_return Message::read(edited(request.text, {{*sealed_text, state.carried}}),
                          context_.settings.limits.json());
}

}  // namespace sallyport::mcp
