// Would this call run, and why? Decided by the function that decides about calls, over a ledger
// that is only read. A recorded call is judged with the policy text, the front and the facts of
// then (WB-33).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/cli/grant_files.h"
#include "app/cli/policy_commands.h"
#include "app/input.h"
#include "app/output.h"
#include "app/records/short_ids.h"
#include "app/workbench/explaining.h"
#include "base/try.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestCall = 1u << 20;

Result<Call> call_in(const std::string& text, const std::string& where) {
  Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) {
    return fail(ErrorCode::InvalidInput, parsed.error().message,
                fmt::format("{}:{}", where, parsed.error().where));
  }
  const json::object* const object = parsed->value.if_object();
  if (object == nullptr) return fail(ErrorCode::InvalidInput, "a call is an object", where);
  Call call{.input = json::object{}};
  std::string workspace;
  for (const json::key_value_pair& pair : *object) {
    const std::string_view name = pair.key();
    std::string* const member = name == "agent" || name == "agent_id"       ? &call.agent_id
                                : name == "session" || name == "session_id" ? &call.session_id
                                : name == "server"                          ? &call.server
                                : name == "tool"                            ? &call.tool
                                : name == "front"                           ? &call.setting.front
                                : name == "cwd"                             ? &call.setting.folder
                                : name == "workspace"                       ? &workspace
                                                                            : nullptr;
    if (name == "input") {
      call.input = pair.value();
    } else if (member == nullptr) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("unknown member `{:.80}`; a call has agent, session, server, tool, input, "
                      "front, cwd and workspace",
                      name),
          where);
    } else if (!pair.value().is_string()) {
      return fail(ErrorCode::InvalidInput, fmt::format("`{}` is no text", name), where);
    } else {
      *member = pair.value().get_string();
    }
  }
  if (!workspace.empty()) call.setting.workspace.push_back(workspace);
  if (call.tool.empty()) return fail(ErrorCode::InvalidInput, "a call names its `tool`", where);
  return call;
}

Result<AskedCall> find_call(const std::string& named, Workspace* workspace) {
  if (trimmed(named).starts_with('{')) {
    SALLYPORT_TRY(Call call, call_in(named, "call"));
    return AskedCall{.call = std::move(call)};
  }
  std::error_code code;
  if (named == "-" || std::filesystem::exists(named, code)) {
    SALLYPORT_TRY(const std::string text, read_input(named, kLargestCall));
    SALLYPORT_TRY(Call call, call_in(text, named));
    return AskedCall{.call = std::move(call)};
  }
  if (workspace != nullptr) {
    std::string id;
    SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(id, whole_call_id(view, named));
      return {};
    }));
    return recorded_call(workspace->store(), id);
  }
  return fail(ErrorCode::NotFound,
              fmt::format("`{:.80}` is no file, and there is no ledger here", named));
}

// Where no ledger is, nothing is revoked, spent, promoted or pinned.
Result<std::unique_ptr<Workspace>> ledger_if_any(const Context& context) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  std::error_code code;
  if (!std::filesystem::exists(place.ledger_file(), code)) return nullptr;
  return context.open_reading();
}

Result<Circumstances> circumstances(const PolicyExplainOptions& options) {
  Circumstances under{.now = options.now};
  if (options.policy) {
    SALLYPORT_TRY(under.policy, policy_named(*options.policy));
  }
  if (options.grant) {
    SALLYPORT_TRY(under.grant, read_token_text(*options.grant));
  }
  if (!options.at) return under;
  under.at = from_rfc3339(*options.at);
  if (under.at) return under;
  return fail(ErrorCode::InvalidInput,
              fmt::format("`{:.80}` is no time; write it as 2026-11-16T12:00:00Z", *options.at),
              "--at");
}

}  // namespace

Result<int> policy_explain(const Context& context, const PolicyExplainOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, ledger_if_any(context));
  SALLYPORT_TRY(AskedCall asked, find_call(options.call, workspace.get()));
  SALLYPORT_TRY(const Circumstances under, circumstances(options));
  SALLYPORT_TRY(const Explained explained,
                explain(context, workspace.get(), std::move(asked), under));
  if (context.json()) {
    say(visible_json(canonical_json(explanation_json(explained))));
  } else {
    say_explanation(explained);
  }
  return explained.verdict() == "runs" ? 0 : 1;
}

}  // namespace sallyport::app
