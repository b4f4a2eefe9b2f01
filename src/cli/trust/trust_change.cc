// Promotes or demotes an agent: a person's signed word, checked, and written where the chain goes
// on (TR-15, TR-16).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "base/uuid.h"
#include "cli/command.h"
#include "cli/trust/tier_named.h"
#include "people/approver_key.h"
#include "people/login.h"
#include "people/registered_reviewers.h"
#include "people/tier_change.h"
#include "records/agent_trust.h"
#include "terminal/output.h"
#include "trust/standing.h"

namespace sallyport::app {

namespace {

struct TrustChangeOptions {
  std::string agent;
  std::string to;
  std::optional<std::string> declared;  // nothing: as the policy in force says
  LoginOptions login;                   // a key: a token signs nothing
};

using trust::ControlStatement;

// Runs inside the transaction: nothing can happen between what is checked and what is written.
class Change {
 public:
  Change(const trust::Reviewers& reviewers, const ApproverKey& key, Workspace& workspace)
      : reviewers_(reviewers), key_(key), workspace_(workspace) {}

  Result<ControlStatement> write(const std::string& action, const TrustChangeOptions& options,
                                 Autonomy to, Autonomy declared) {
    ControlStatement statement{.action = action,
                               .agent = options.agent,
                               .control_id = fresh_id(),
                               .to_tier = to,
                               .ledger = workspace_.ledger().origin(),
                               .reviewer = key_.name()};
    SALLYPORT_CHECK_OK(workspace_.ledger().transact(
        [&](ledger::WriteView& view) -> Result<std::vector<core::Draft>> {
          return compose(view, statement, declared);
        }));
    return statement;
  }

 private:
  Result<std::vector<core::Draft>> compose(ledger::WriteView& view, ControlStatement& statement,
                                           Autonomy declared) {
    ChangeScene scene{.people = reviewers_, .declared = declared, .now = workspace_.clock().wall()};
    SALLYPORT_TRY(scene.stored, view.fact(trust::kStandingSpace, statement.agent));
    SALLYPORT_TRY(statement.from_tier, tier_before(statement, scene));
    statement.signed_at = trust::whole_seconds(scene.now);
    const SignedChange change{statement, key_.sign(statement.text())};
    SALLYPORT_TRY(core::Draft draft,
                  change_draft(change, scene, fresh_id(), "trace-" + fresh_id()));
    return std::vector{std::move(draft)};
  }

  std::string fresh_id() { return uuid7_text(workspace_.clock(), workspace_.entropy()); }

  const trust::Reviewers& reviewers_;
  const ApproverKey& key_;
  Workspace& workspace_;
};

// The tier that the policy declares, if the command names none.
Result<Autonomy> declared_for(Workspace& workspace, const TrustChangeOptions& options) {
  if (options.declared) return tier_named(*options.declared, "--declared");
  SALLYPORT_TRY(const DeclaredTiers declared, DeclaredTiers::read(workspace.ledger()));
  return declared.of(options.agent).tier;
}

Result<ControlStatement> change_as(const Context& context, const TrustChangeOptions& options,
                                   const Login& person, std::string_view verb) {
  SALLYPORT_TRY(const Autonomy to, tier_named(options.to, "--to"));
  SALLYPORT_TRY(const trust::Reviewers reviewers,
                registered_reviewers(context, options.login.reviewers));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  SALLYPORT_TRY(const Autonomy declared, declared_for(*workspace, options));
  Change change(reviewers, *person.key, *workspace);
  return change.write(fmt::format("trust.{}", verb), options, to, declared);
}

Result<int> change_tier(const Context& context, const TrustChangeOptions& options,
                        std::string_view verb) {
  const std::string command = fmt::format("trust {}", verb);
  SALLYPORT_TRY(const Login person, log_in(context, options.login, command, "controller"));
  const Result<ControlStatement> changed = change_as(context, options, person, verb);
  if (!changed) {
    record_refusal(context, command, changed.error());
    return std::unexpected(changed.error());
  }
  const ControlStatement& done = *changed;
  print_line(context.json() ? visible_json(canonical_json(
                                  json::object{{"action", done.action},
                                               {"agent", done.agent},
                                               {"from_tier", to_string(done.from_tier)},
                                               {"to_tier", to_string(done.to_tier)},
                                               {"control_id", done.control_id},
                                               {"reviewer", done.reviewer},
                                               {"signed_at", done.signed_at}}))
                            : fmt::format("{}: {} to {}, signed by {}", visible(done.agent),
                                          to_string(done.from_tier), to_string(done.to_tier),
                                          visible(done.reviewer)));
  return 0;
}

Result<int> trust_promote(const Context& context, const TrustChangeOptions& options) {
  return change_tier(context, options, "promote");
}

Result<int> trust_demote(const Context& context, const TrustChangeOptions& options) {
  return change_tier(context, options, "demote");
}

void tier_change_options(Syntax& syntax, TrustChangeOptions& options) {
  syntax.text("agent", options.agent, "the agent", "AGENT").required();
  syntax.text("--to", options.to, "the new tier").required().choices(tier_words());
  syntax
      .text("--declared", options.declared,
            "tier of the agent if it was never changed before [as the policy says]")
      .choices(tier_words());
  syntax.file("--key-file", options.login.key_file, "your approver key [the one in <data-dir>]");
  syntax.file("--passphrase-file", options.login.passphrase_file,
              "file that holds the passphrase [asked at the terminal]");
  syntax.file("--reviewers", options.login.reviewers,
              "a policy with reviewers, loaded by a gate here [<data-dir>/reviewers.yaml]");
}

const Command kTrustPromote("trust promote", "give an agent a higher tier; asks for a passphrase",
                            trust_promote, tier_change_options);

const Command kTrustDemote("trust demote", "give an agent a lower tier; asks for a passphrase",
                           trust_demote, tier_change_options);

}  // namespace

}  // namespace sallyport::app
