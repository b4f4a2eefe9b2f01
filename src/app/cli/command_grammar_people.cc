#include "app/cli/command_grammar.h"
#include "app/people/approval_items.h"

namespace sallyport::app {

namespace {

const std::vector<std::string> kTierWords = {"shadow", "suggest", "act_with_approval", "act_auto"};

}  // namespace

void CommandLine::add_approvals() {
  CLI::App& approvals = *app_.add_subcommand("approvals", "what waits for a person");
  approvals.require_subcommand(1);
  CLI::App& list = command(approvals, "list", "what waits, the riskiest and oldest first",
                           approvals_list_, approvals_list);
  choice(text(list, "--kind", approvals_list_.kind, "only of this kind"), approval_kinds());
  choice(text(list, "--state", approvals_list_.state, "in this state [pending]"),
         approval_states());
  list.add_flag("--all", approvals_list_.all, "those that look alike too, each by itself");
  CLI::App& show = command(approvals, "show", "one question, and exactly what would run",
                           approvals_show_, approvals_show);
  text(show, "id", approvals_show_.id, "which one", "ID")->required();
  show.add_flag("--full", approvals_show_.full, "long values whole");
  show.add_flag("--reveal", approvals_show_.reveal,
                "show what redaction took out of the input; asks who you are");
  add_login(show, approvals_show_.login);
  add_answer(approvals, "approve", "say yes: the call runs, once", approve_, approvals_approve);
  add_answer(approvals, "deny", "say no: the call does not run", deny_, approvals_deny);
  add_answer(approvals, "cancel", "take a question back: the call does not run", cancel_,
             approvals_cancel);
  CLI::App& batch = command(approvals, "answer",
                            "answer a question in words, or many calls, each with its verdict",
                            approvals_batch_, approvals_answer);
  CLI::Option* const which = text(batch, "id", approvals_batch_.id, "which question", "ID");
  text(batch, "--text", approvals_batch_.words, "what you answer to it")->needs(which);
  file(batch, "--batch", approvals_batch_.batch,
       "instead: [{request_id, approved, binding, reason?}, ...]")
      ->excludes(which);
  add_login(batch, approvals_batch_.login);
  CLI::App& escalate = command(approvals, "escalate", "let another reviewer answer too",
                               approvals_escalate_, approvals_escalate);
  ApprovalsAnswerOptions& passed_on = approvals_escalate_.answer;
  text(escalate, "id", passed_on.id, "which one", "ID")->required();
  text(escalate, "--to", approvals_escalate_.to, "a person, or role:ROLE", "WHO")->required();
  text(escalate, "--reason", passed_on.reason, "why; becomes part of the record");
  add_login(escalate, passed_on.login);
  CLI::App& watch = command(approvals, "watch", "see what comes, and answer it", approvals_watch_,
                            approvals_watch);
  choice(text(watch, "--kind", approvals_watch_.kind, "only of this kind"),
         {"approval", "dual_control"});
  add_login(watch, approvals_watch_.login);
  CLI::App& init = command(approvals, "init", "make the key with which you answer", approvals_init_,
                           approvals_init);
  text(init, "--name", approvals_init_.name, "who you are [user:LOGIN]", "NAME");
  file(init, "--key-file", approvals_init_.key_file, "where to [<data-dir>/approvers]");
  file(init, "--passphrase-file", approvals_init_.passphrase_file,
       "holds the passphrase [asked at the terminal]");
  init.add_flag("--register", approvals_init_.register_it,
                "add the key to the reviewers of this data folder");
  CLI::App& accept = command(approvals, "accept", "take an escalation off the queue as right",
                             accept_, approvals_accept);
  CLI::App& dismiss =
      command(approvals, "dismiss", "take an escalation off the queue as no concern", dismiss_,
              approvals_dismiss);
  text(accept, "id", accept_.id, "which one", "ID")->required();
  text(accept, "--note", accept_.note, "becomes part of the record", "TEXT");
  add_person(accept, accept_.login);
  text(dismiss, "id", dismiss_.id, "which one", "ID")->required();
  text(dismiss, "--note", dismiss_.note, "becomes part of the record", "TEXT");
  add_person(dismiss, dismiss_.login);
}

void CommandLine::add_answer(CLI::App& approvals, const char* name, const char* about,
                             ApprovalsAnswerOptions& options, Command<ApprovalsAnswerOptions> run) {
  CLI::App& answer = command(approvals, name, about, options, run);
  text(answer, "id", options.id, "which one", "ID")->required();
  text(answer, "--reason", options.reason, "why; becomes part of the record");
  text(answer, "--binding", options.binding, "what you saw; another call is not answered",
       "DIGEST");
  add_login(answer, options.login);
}

void CommandLine::add_console() {
  CLI::App& sub = command(app_, "console", "a link that opens the web console of `serve` once",
                          console_, console_link);
  text(sub, "--as", console_.as, "sign in as this reviewer, with the key [only look]", "NAME");
  sub.add_flag("--open", console_.open, "open it in a browser");
  sub.add_flag("--qr", console_.qr, "show it as a QR code too");
  add_own_key(sub, console_.login);
}

void CommandLine::add_passkeys() {
  CLI::App& passkeys = *app_.add_subcommand("passkeys", "keys that answer in the web console");
  passkeys.require_subcommand(1);
  CLI::App& add = command(passkeys, "add", "sign for a key that a page of the console has made",
                          passkeys_add_, passkeys_add);
  text(add, "code", passkeys_add_.id, "what the page shows", "CODE")->required();
  add_own_key(add, passkeys_add_.login);
  simple(passkeys, "list", "the keys that people have enrolled", passkeys_list);
  CLI::App& remove = command(passkeys, "remove", "let one of your keys count no longer",
                             passkeys_remove_, passkeys_remove);
  text(remove, "id", passkeys_remove_.id, "which one, as `passkeys list` has it", "ID")->required();
  add_own_key(remove, passkeys_remove_.login);
}

void CommandLine::add_own_key(CLI::App& sub, LoginOptions& login) {
  file(sub, "--key-file", login.key_file, "your approver key [the one in <data-dir>]");
  CLI::Option* const words = file(sub, "--passphrase-file", login.passphrase_file,
                                  "holds its passphrase [asked at the terminal]");
  text(sub, "--passphrase-fd", login.passphrase_fd, "descriptor that gives its passphrase", "N")
      ->excludes(words);
  file(sub, "--reviewers", login.reviewers,
       "policy of a gate here that names reviewers [<data-dir>/reviewers.yaml]");
}

void CommandLine::add_login(CLI::App& answer, LoginOptions& login) {
  add_person(answer, login);
  file(answer, "--reviewers", login.reviewers,
       "policy of a gate here that names reviewers [<data-dir>/reviewers.yaml]");
}

void CommandLine::add_person(CLI::App& answer, LoginOptions& login) {
  file(answer, "--key-file", login.key_file, "your approver key [the one in <data-dir>]");
  CLI::Option* const words = file(answer, "--passphrase-file", login.passphrase_file,
                                  "holds its passphrase [asked at the terminal]");
  text(answer, "--passphrase-fd", login.passphrase_fd, "descriptor that gives its passphrase", "N")
      ->excludes(words);
  file(answer, "--token-file", login.token_file, "your token, instead of a key");
  text(answer, "--name", login.name, "whose token it is", "NAME");
}

void CommandLine::add_trust() {
  CLI::App& trust = *app_.add_subcommand("trust", "what agents did, and what they may do");
  trust.require_subcommand(1);
  CLI::App& show = command(trust, "show", "how an agent stands", trust_show_, trust_show);
  text(show, "agent", trust_show_.agent, "which agent [all]", "AGENT");
  show.add_flag("--records", trust_show_.records, "its records instead of its score");
  show.add_flag("--by-trace", trust_show_.by_trace, "its records, trace by trace");
  text(show, "--action", trust_show_.action, "only of this action", "ACTION");
  text(show, "--since", trust_show_.since, "records not before this time", "TIME");
  text(show, "--until", trust_show_.until, "records before this time", "TIME");
  choice(text(show, "--tier", trust_show_.tier, "records under this tier"), kTierWords);
  choice(text(show, "--outcome", trust_show_.outcome, "records with this outcome"),
         {"success", "failure", "denied", "timeout"});
  text(show, "--limit", trust_show_.limit, "the newest so many records [1000]", "N");
  file(show, "--file", trust_show_.file, "a chain document instead of the ledger");
  choice(text(show, "--declared", trust_show_.declared,
              "tier of an agent that was never promoted or demoted [as the policy says]"),
         kTierWords);
  add_tier_change(command(trust, "promote", "give an agent a higher tier; asks for a passphrase",
                          trust_promote_, trust_promote),
                  trust_promote_);
  add_tier_change(command(trust, "demote", "give an agent a lower tier; asks for a passphrase",
                          trust_demote_, trust_demote),
                  trust_demote_);
  CLI::App& sign = command(trust, "sign", "sign a change that the web console prepared",
                           trust_sign_, trust_sign);
  file(sign, "file", trust_sign_.file, "the statement [standard input]");
  file(sign, "--key-file", trust_sign_.key_file, "your approver key [the one in <data-dir>]");
  file(sign, "--passphrase-file", trust_sign_.passphrase_file,
       "holds the passphrase [asked at the terminal]");
  CLI::App& out = command(trust, "export", "the chain as others read it (OpenTrustGraph v0)",
                          trust_export_, trust_export);
  text(out, "--limit", trust_export_.limit, "only the first so many records", "N");
  file(out, "--out", trust_export_.out, "where to [standard output]");
  lists(out, trust_export_.reviewers);
  CLI::App& check =
      command(trust, "verify", "check hashes, links and signatures", trust_verify_, trust_verify);
  file(check, "file", trust_verify_.file, "a chain document instead of the ledger");
  lists(check, trust_verify_.reviewers);
  text(check, "--origin", trust_verify_.origin, "the log a document came from", "NAME");
}

void CommandLine::add_tier_change(CLI::App& sub, TrustChangeOptions& options) {
  text(sub, "agent", options.agent, "which agent", "AGENT")->required();
  choice(text(sub, "--to", options.to, "the new tier")->required(), kTierWords);
  choice(text(sub, "--declared", options.declared,
              "its tier if it was never changed before [as the policy says]"),
         kTierWords);
  file(sub, "--key-file", options.key_file, "your approver key [the one in <data-dir>]");
  file(sub, "--passphrase-file", options.passphrase_file,
       "holds the passphrase [asked at the terminal]");
  file(sub, "--reviewers", options.reviewers,
       "policy of a gate here that names reviewers [<data-dir>/reviewers.yaml]");
}

void CommandLine::add_grant(CLI::App& app, GrantOptions& options) {
  text(app, "--subject", options.subject, "the principal who may use it", "PRINCIPAL")->required();
  required_file(app, "--grant", options.grant, "what it allows, as JSON");
  text(app, "--subject-key", options.subject_key, "with which the subject may hand it on", "KEY");
}

void CommandLine::add_grants() {
  CLI::App& grants = *app_.add_subcommand("grants", "who may call what, signed and expiring");
  grants.require_subcommand(1);
  CLI::App& issue = command(grants, "issue", "make a token", grants_issue_, grants_issue);
  add_grant(issue, grants_issue_);
  text(issue, "--ttl", grants_issue_.ttl, "how long it is valid, at most 30d [1h]", "DURATION");
  add_person(issue, grants_issue_.login);
  CLI::App& less = command(grants, "attenuate", "hand on less than a token allows",
                           grants_attenuate_, grants_attenuate);
  text(less, "token", grants_attenuate_.token, "a file, -, or the token itself", "TOKEN")
      ->required();
  add_grant(less, grants_attenuate_.grant);
  text(less, "--ttl", grants_attenuate_.grant.ttl, "how long it is valid [as its parent]",
       "DURATION");
  required_file(less, "--key-file", grants_attenuate_.key_file,
                "private key of the token's subject");
  CLI::App& inspect = command(grants, "inspect", "every check of a token, and what would match",
                              grants_inspect_, grants_inspect);
  text(inspect, "token", grants_inspect_.token, "a file, -, or the token itself", "TOKEN")
      ->required();
  file(inspect, "--call", grants_inspect_.call, "a call to compare it with, as JSON");
  text(inspect, "--principal", grants_inspect_.principal, "who presents it [as the call says]",
       "PRINCIPAL");
  text(inspect, "--at", grants_inspect_.at, "as if it were this time [now]", "TIME");
  inspect.add_option("--trust", grants_inspect_.trust, "an issuer to trust; may be repeated")
      ->type_name("KEY")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::App& revoke =
      command(grants, "revoke", "let a token count no longer", grants_revoke_, grants_revoke);
  text(revoke, "id", grants_revoke_.id, "its id", "ID")->required();
  text(revoke, "--reason", grants_revoke_.reason, "why; becomes part of the record")->required();
  add_person(revoke, grants_revoke_.login);
  simple(grants, "list", "tokens issued or seen, with their uses", grants_list);
}

}  // namespace sallyport::app
