#include "core/plan/authorizer.h"

#include <boost/json.hpp>

#include "base/object_reader.h"
#include "base/try.h"

namespace sallyport {

json::object to_json(const AuthorizationRequest& request) {
  return {{"agent_id", request.agent_id},
          {"agent_name", request.agent_name},
          {"model", request.model},
          {"history_len", request.history_len},
          {"tool_call_id", request.tool_call_id},
          {"tool_name", request.tool_name},
          {"preview", to_json(request.preview)}};
}

Result<AuthorizationRequest> authorization_request_from_json(const json::value& value,
                                                             std::string where) {
  ObjectReader in(value, std::move(where));
  AuthorizationRequest request{.agent_id = in.text("agent_id"),
                               .agent_name = in.text("agent_name"),
                               .model = in.text("model"),
                               .history_len = in.number("history_len"),
                               .tool_call_id = in.text("tool_call_id"),
                               .tool_name = in.text("tool_name")};
  const json::object& preview = in.object("preview");
  if (in.ok()) request.preview = in.take(preview_from_json(preview, in.place("preview")));
  if (!in.ok()) return std::unexpected(in.error());
  return request;
}

json::object to_json(const Authorization& authorization) {
  const char* word = "allow";
  if (authorization.outcome == Authorization::Kind::Prompt) word = "prompt";
  if (authorization.outcome == Authorization::Kind::Deny) word = "deny";
  return {{"outcome", word},
          {"reason", authorization.reason ? json::value(*authorization.reason) : json::value()}};
}

Result<Authorization> authorization_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  const std::string word = in.word("outcome", {"allow", "prompt", "deny"});
  Authorization authorization{.reason = in.optional_text("reason")};
  if (word == "prompt") authorization.outcome = Authorization::Kind::Prompt;
  if (word == "deny") authorization.outcome = Authorization::Kind::Deny;
  if (!in.ok()) return std::unexpected(in.error());
  return authorization;
}

}  // namespace sallyport

namespace sallyport::core {

AuthorizerGuard::AuthorizerGuard(std::string name, Authorize authorize, bool waits,
                                 std::optional<std::chrono::milliseconds> limit,
                                 json::value settings)
    : traits_{.name = std::move(name),
              .stage = Stage::Authorizer,
              .waits = waits,
              .limit = limit,
              .settings = std::move(settings)},
      authorize_(std::move(authorize)) {}

Task<Verdict> AuthorizerGuard::judge(const Call& call, const GuardContext& context) const {
  AuthorizationRequest request{.agent_id = call.agent_id,
                               .agent_name = call.agent_name,
                               .model = call.provenance.model,
                               .history_len = call.history_len,
                               .tool_call_id = call.tool_call_id,
                               .tool_name = call.tool,
                               .preview = context.preview};
  SALLYPORT_CO_TRY(const Authorization answer, co_await authorize_(std::move(request)));
  switch (answer.outcome) {
    case Authorization::Kind::Allow:
      co_return Verdict::allow();
    case Authorization::Kind::Prompt:
      co_return Verdict::ask(answer.reason.value_or(""));
    case Authorization::Kind::Deny:
      co_return Verdict::deny(answer.reason.value_or("denied by " + traits_.name));
  }
  co_return fail(ErrorCode::InvalidInput, traits_.name + " gave no such outcome");
}

}  // namespace sallyport::core
