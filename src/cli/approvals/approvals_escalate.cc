// Lets a further reviewer answer a question. The question and its deadline stay (AP-26).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "cli/common_options.h"
#include "core/approval/reply_check.h"
#include "people/agent_ancestry.h"
#include "people/answering.h"
#include "people/registered_reviewers.h"
#include "records/short_ids.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ApprovalsEscalateOptions {
  std::string id;
  std::string to;
  std::optional<std::string> reason;
  LoginOptions login;
};

// A name, or `role:R` for all who have that role and do not act in the call. Only approvers can
// answer.
Result<std::vector<std::string>> people_named(const trust::Reviewers& people, const std::string& to,
                                              const json::object& request) {
  constexpr std::string_view kRole = "role:";
  const bool is_role = to.starts_with(kRole);
  std::vector<std::string> names;
  bool acts = false;
  for (const trust::Reviewer& person : people.people) {
    const bool matches = is_role ? person.has_role(to.substr(kRole.size())) : person.name == to;
    if (!matches || !person.has_role("approver")) continue;
    if (is_role && core::is_requester(person.name, request)) {
      acts = true;
    } else {
      names.push_back(person.name);
    }
  }
  if (!names.empty()) return names;
  if (acts) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("every approver of `{:.80}` acts in this call and so cannot answer it; "
                            "name another role or person",
                            to),
                "--to");
  }
  return fail(ErrorCode::NotFound, fmt::format("`{:.80}` is not a registered approver", to),
              "--to");
}

Result<int> approvals_escalate(const Context& context, const ApprovalsEscalateOptions& named) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals escalate"));
  ApprovalsEscalateOptions options = named;
  SALLYPORT_TRY(options.id, whole_request_id(context, named.id));
  SALLYPORT_TRY(const json::object request, pending_request(context, options.id));
  SALLYPORT_TRY(const trust::Reviewers people,
                registered_reviewers(context, options.login.reviewers));
  SALLYPORT_TRY(const std::vector<std::string> to, people_named(people, options.to, request));
  SALLYPORT_TRY(Login login, log_in(context, options.login, "approvals escalate"));
  const Answering person(context, std::move(login));
  SALLYPORT_CHECK_OK(person.escalate(options.id, to, options.reason.value_or("")));
  print_line(context.json()
                 ? visible_json(canonical_json(json::object{{"request_id", options.id},
                                                            {"escalated_to", json::value_from(to)},
                                                            {"by", person.login().name}}))
                 : fmt::format("{} may now be answered by {} too", options.id,
                               visible(fmt::format("{}", fmt::join(to, ", ")))));
  return 0;
}

const Command kApprovalsEscalate(
    "approvals escalate", "let another reviewer answer an approval request too", approvals_escalate,
    [](Syntax& syntax, ApprovalsEscalateOptions& options) {
      syntax.text("id", options.id, "id of the approval request", "ID").required();
      syntax.text("--to", options.to, "a person, or role:ROLE", "WHO").required();
      syntax.text("--reason", options.reason, "reason; becomes part of the record");
      login_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
