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
  const auto questions = find(response, {"result", "inputRequests"});
  const auto listed = find(response, {"error", "data", "elicitations"});
  std::vector<Edit> edits;
  if (context_.client.era() == Era::Modern && questions) {
    for (const auto& [key, question] : members(*questions)) {
      const std::optional<std::string> decided = co_await govern(key, question);
      if (!decided) co_return error_text({}, kDenied, kQuestionDenied);
      if (*decided != find(question, {"params"}).value_or("{}")) {
        edits.push_back({question, with_member(question, "params", *decided)});
      }
    }
  } else if (pages && listed) {
    for (const std::string_view page : elements(*listed)) {
      const std::string params = with_member(page, "mode", "\"url\"");
      const std::string question = request_text("0", "elicitation/create", params);
      std::optional<std::string> decided = co_await govern({}, question);
      if (!decided) co_return error_text({}, kDenied, kQuestionDenied);
      edits.push_back({page, std::move(*decided)});
    }
  }
  co_return edits.empty() ? response : edited(response, std::move(edits));
}

// Seals the server's state for a stateless client, because a client could change it. The seal is
// bound to this caller, this request, one use and a time.
std::string HandedQuestions::sealed(std::string response, const HeldCall& call) const {
  constexpr std::chrono::hours kLasts{1};
  const GatewayParts& parts = context_.parts;
  if (!context_.bridges(Era::Modern, Era::Modern)) return response;
  if (find(response, {"result", "resultType"}) != R"("input_required")") return response;
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

// Returns the params for the client, JSON text. No value: the question is denied.
Async<std::optional<std::string>> HandedQuestions::govern(std::string_view key,
                                                          std::string_view question) {
  // These keys are ours: an answer under such a key is for the gateway.
  if (key.starts_with("sallyport")) co_return std::nullopt;
  const Result<ParsedJson> method = parse_json(find(question, {"method"}).value_or("null"));
  if (!method || !method->value.is_string()) co_return std::nullopt;
  const std::string name(method->value.get_string());
  const std::string params(find(question, {"params"}).value_or("{}"));
  const Result<Message> request =
      Message::make_request(name, params, context_.settings.limits.json());
  if (!request || !context_.door.may_ask(Side::Server, *request)) co_return std::nullopt;
  const Result<CallParams> call_params = read_call_params(*request);
  if (!call_params) co_return std::nullopt;
  const auto handed = std::make_shared<HandedQuestion>(*request, *call_params);
  const Result<Answer> answer =
      co_await context_.parts.governor.run(question_call(context_.settings, *call_params), handed);
  const bool allowed =
      answer && answer->outcome.kind == Outcome::Kind::Completed && answer->result.success;
  if (!allowed || !handed->params()) co_return std::nullopt;
  if (name != "elicitation/create") co_return *handed->params();
  co_return marked_form(*handed->params(), context_.settings.name);
}

bool HandedQuestions::has_answers(const Message& request) const {
  const json::object* const params = request.params();
  const json::object* const answers = params ? object_in(*params, "inputResponses") : nullptr;
  if (answers == nullptr || context_.client.era() != Era::Modern ||
      context_.server.opening().era() == Era::Legacy) {
    return false;
  }
  // The answer to the gate's own question is not forwarded.
  return !(answers->size() == 1 && answers->contains(kApprovalKey));
}

// Answers pass the second door like a result, and are recorded before the server gets them.
Task<Message> HandedQuestions::with_answers(Message request) {
  const JsonLimits limits = context_.settings.limits.json();
  const auto given = find(request.params_text(), {"inputResponses"});
  SALLYPORT_CO_TRY(Message answers, Message::make_answer(*given, limits));
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
  SALLYPORT_CO_CHECK_OK(request.replace(
      "params", with_member(request.params_text(), "inputResponses", shown), limits));
  co_return std::move(request);
}

bool HandedQuestions::has_sealed_state(const Message& request) const {
  const auto state = state_in(request);
  return state && is_sealed(*state);
}

Result<SealedState> HandedQuestions::state_of(const Message& request, const Grants& grants) const {
  SALLYPORT_TRY(SealedState state,
                unseal(context_.parts.recorder, *state_in(request), context_.parts.clock.wall()));
  const Result<CallParams> call_params = read_call_params(request);
  // A stateless server has no sessions, so its state is valid in every session.
  const bool here = !state.carried.empty() || state.session == context_.settings.session_id;
  if (here && call_params && state.principal == context_.settings.agent_id &&
      state.request == identity_of(request, *call_params, grants)) {
    return state;
  }
  return fail(ErrorCode::InvalidInput,
              "`requestState` belongs to another request; call again without it");
}

bool HandedQuestions::has_foreign_state(const Message& request) const {
  const json::object* const params = request.params();
  return params != nullptr && params->contains("requestState") &&
         context_.client.era() == Era::Modern && context_.server.opening().era() != Era::Legacy;
}

Task<Message> HandedQuestions::with_own_state(Message request, SealedState state) {
  SALLYPORT_CO_CHECK_OK(co_await use_once(context_.parts.recorder, state));
  SALLYPORT_CO_CHECK_OK(
      request.replace("params", with_member(request.params_text(), "requestState", state.carried),
                      context_.settings.limits.json()));
  co_return std::move(request);
}

}  // namespace sallyport::mcp
