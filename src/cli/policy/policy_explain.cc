// Would this call run, and why? A call that people write, or one of the ledger by its id.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "cli/command.h"
#include "cli/grants/grant_files.h"
#include "ledger/read/look_at.h"
#include "records/short_ids.h"
#include "terminal/input.h"
#include "terminal/output.h"
#include "workbench/explain_scene.h"

namespace sallyport::app {

namespace {

struct PolicyExplainOptions {
  std::string call;  // a file, `-`, the JSON itself, or the id of a recorded call
  std::optional<std::string> policy;
  std::optional<std::string> grant;
  bool now = false;               // a recorded call by the policy and the facts of now
  std::optional<std::string> at;  // RFC 3339: the time of now
};

constexpr std::size_t kLargestCall = 1u << 20;

Result<AskedCall> find_call(const std::string& named, Workspace* workspace) {
  if (trimmed(named).starts_with('{')) {
    return asked_call(named, "call");
  }
  std::error_code code;
  if (named == "-" || std::filesystem::exists(named, code)) {
    SALLYPORT_TRY(const std::string text, read_input(named, kLargestCall));
    return asked_call(text, named);
  }
  if (workspace != nullptr) {
    SALLYPORT_TRY(const std::string id, ledger::look_at(workspace->store(), [&](auto& view) {
                    return whole_call_id(view, named);
                  }));
    return recorded_call(workspace->store(), id);
  }
  return fail(ErrorCode::NotFound,
              fmt::format("`{:.80}` is not a file, and there is no ledger here", named));
}

// Without a ledger, nothing is revoked, spent, promoted or pinned.
Result<std::unique_ptr<Workspace>> ledger_if_any(const Context& context) {
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  if (!place.has_ledger()) return nullptr;
  return context.open_reading();
}

Result<ExplainOptions> options_in(const PolicyExplainOptions& options, ledger::LedgerStore* store) {
  ExplainOptions explain_options{.now = options.now, .at = options.at};
  if (options.policy) {
    SALLYPORT_TRY(explain_options.policy, policy_named(*options.policy, store));
  }
  if (options.grant) {
    SALLYPORT_TRY(explain_options.grant, read_token_text(*options.grant));
  }
  return explain_options;
}

Result<int> policy_explain(const Context& context, const PolicyExplainOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, ledger_if_any(context));
  SALLYPORT_TRY(AskedCall asked, find_call(options.call, workspace.get()));
  ledger::LedgerStore* const store = workspace ? &workspace->store() : nullptr;
  const ExplainScene scene = scene_of(context, store);
  SALLYPORT_TRY(const ExplainOptions explain_options, options_in(options, store));
  SALLYPORT_TRY(const Explained explained, explain(scene, std::move(asked), explain_options));
  if (context.json()) {
    print_line(visible_json(canonical_json(explanation_json(explained))));
  } else {
    print_explanation(explained);
  }
  return explained.verdict() == CallVerdict::Runs ? 0 : 1;
}

const Command kPolicyExplain(
    "policy explain", "explain whether a call would run, and why; runs nothing", policy_explain,
    [](Syntax& syntax, PolicyExplainOptions& options) {
      syntax.text("call", options.call, "a call as JSON, or the id of a recorded one", "FILE|CALL")
          .required();
      syntax.text("--policy", options.policy,
                  "policy file, or the name of a shipped policy [that of the recorded call, else "
                  "starter]",
                  "POLICY");
      syntax.text("--grant", options.grant, "the token that the call presents", "FILE");
      syntax.flag("--now", options.now, "judge a recorded call by the current policy and facts");
      syntax.text("--at", options.at, "the current time, as 2026-11-16T12:00:00Z", "TIME");
    });

}  // namespace

}  // namespace sallyport::app
