// One question, what was answered, and what came of it.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "base/visible_text.h"
#include "cli/common_options.h"
#include "core/handoff/waiting_facts.h"
#include "ledger/read/store_reader.h"
#include "people/agent_ancestry.h"
#include "people/approval_items.h"
#include "people/approval_json.h"
#include "people/approval_page.h"
#include "people/bound_inputs.h"
#include "people/login.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ApprovalsShowOptions {
  std::string id;
  bool full = false;
  bool reveal = false;  // with what redaction took out, for a reviewer
  LoginOptions login{};
};

void print_escalation(const EscalationItem& item) {
  const auto line = [](std::string_view name, const std::string& value) {
    if (!value.empty()) print_line(fmt::format("{:<10} {}", name, visible(value)));
  };
  line("escalation", item.id);
  line("says", item.message);
  line("guard", item.guard);
  line("agent", item.agent_id);
  line("session", item.session_id);
  line("tool", item.tool);
  line("server", item.server);
  line("call", item.call_id);
  line("since", item.opened_at);
  line("calls", std::to_string(item.count));
}

// A person who logs in wants to see everything.
bool reveals(const ApprovalsShowOptions& options) {
  const LoginOptions& login = options.login;
  return options.reveal || login.key_file || login.passphrase_file || login.passphrase_fd ||
         login.token_file || login.name;
}

Result<int> approvals_show(const Context& context, const ApprovalsShowOptions& named) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals show"));
  ApprovalsShowOptions options = named;
  SALLYPORT_TRY(options.id, whole_request_id(context, named.id));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const auto escalation, core::waiting_escalation(records, options.id));
  if (escalation && context.json()) {
    print_line(visible_json(canonical_json(app::to_json(*escalation))));
    return 0;
  }
  if (escalation) {
    print_escalation(*escalation);
    return 0;
  }
  SALLYPORT_TRY(ApprovalItem item, approval_item(records, options.id, workspace->clock().wall()));
  if (reveals(options)) {
    SALLYPORT_TRY(const Login login, log_in(context, options.login, "approvals show"));
    SALLYPORT_CHECK_OK(reveal(records, decrypt_with(*workspace), login.name, item));
  }
  read_answers(records, true, item);
  SALLYPORT_TRY(const json::value result, result_of_approval(records, options.id));
  if (!context.json()) {
    for (const std::string& line : approval_page(item, result, options.full)) print_line(line);
    return 0;
  }
  print_line(visible_json(canonical_json(page_json(item, result))));
  return 0;
}

const Command kApprovalsShow(
    "approvals show", "show one approval request, and exactly what would run", approvals_show,
    [](Syntax& syntax, ApprovalsShowOptions& options) {
      syntax.text("id", options.id, "id of the approval request", "ID").required();
      syntax.flag("--full", options.full, "show long values whole");
      syntax.flag("--reveal", options.reveal,
                  "show what redaction removed from the input; asks who you are");
      login_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
