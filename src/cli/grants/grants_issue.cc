// Making and revoking grants. Each leaves a control entry that names the token and who did it; the
// token itself is printed once and stored nowhere (CG-64).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "base/uuid.h"
#include "cli/common_options.h"
#include "cli/grants/grant_files.h"
#include "grants/issuing.h"
#include "grants/token_facts.h"
#include "ledger/read/store_reader.h"
#include "people/grant_authority.h"
#include "people/login.h"
#include "records/grant_list.h"
#include "records/selection.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct GrantOptions {
  std::string subject;
  std::filesystem::path grant;
  std::optional<std::string> ttl;
  std::optional<std::string> subject_key;
  LoginOptions login;
};

struct AttenuateOptions {
  std::string token;
  GrantOptions grant;
  std::filesystem::path key_file;
};

struct RevokeOptions {
  std::string id;
  std::string reason;
  LoginOptions login;
};

// The first grant of a data folder may be the first thing in it.
Result<std::unique_ptr<Workspace>> open_for_grants(const Context& context) {
  SALLYPORT_TRY(Workspace::Place place, context.place());
  const bool there = place.has_ledger();
  return Workspace::open_writing(std::move(place),
                                 {.role = there ? "maintenance" : "grants", .announced = !there});
}

std::uint64_t second_of(WallTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

core::Draft issued_entry(const grants::Token& token, const std::string& who) {
  core::Draft draft = ledger::control("grant_issued", {{"who", who},
                                                       {"grant_id", token.id},
                                                       {"grant_digest", token.digest},
                                                       {"issuer", token.issuer},
                                                       {"principal", token.principal},
                                                       {"issued_at", token.issued_at},
                                                       {"expires_at", token.expires_at}});
  if (token.parent) draft.body["parent"] = *token.parent;
  draft.facts.push_back(grants::token_fact(token, "issued"));
  return draft;
}

// The file of the user has the grant alone, without the members around it.
Error in_file(Error error, const std::filesystem::path& file) {
  error.code = ErrorCode::Conflict;
  constexpr std::string_view kGrants = "`scope.grants/";
  if (!error.message.starts_with(kGrants)) return error;
  const std::size_t end = error.message.find_first_of(".`", kGrants.size());
  if (end == std::string::npos || error.message[end] != '.') return error;
  error.message = "`" + error.message.substr(end + 1);
  error.where = file.string();
  return error;
}

// Records the token before it is printed.
Result<int> hand_out(Workspace& workspace, const Result<grants::IssuedToken>& issued,
                     const std::string& who, const std::filesystem::path& file) {
  if (!issued) return std::unexpected(in_file(issued.error(), file));
  std::vector<core::Draft> drafts;
  drafts.push_back(issued_entry(issued->token, who));
  SALLYPORT_CHECK_OK(
      workspace.ledger().append_blocking(std::move(drafts), core::Urgency::Announces));
  print_line(visible_json(issued->text));
  return 0;
}

Result<grants::NewToken> wanted_token(Workspace& workspace, const GrantOptions& options,
                                      std::chrono::seconds lifetime, json::array grants) {
  const std::uint64_t now = second_of(workspace.clock().wall());
  return grants::NewToken{.id = uuid7_text(workspace.clock(), workspace.entropy()),
                          .principal = options.subject,
                          .subject_key = options.subject_key,
                          .issued_at = now,
                          .expires_at = now + static_cast<std::uint64_t>(lifetime.count()),
                          .grants = std::move(grants)};
}

// A child grant of a parent that has only one can come from no other.
void name_only_parent(json::array& grants, const grants::Token& parent) {
  if (parent.grants.size() != 1) return;
  for (json::value& each : grants) {
    if (each.is_object() && !each.get_object().contains("from")) each.get_object()["from"] = 0;
  }
}

Result<int> grants_issue(const Context& context, const GrantOptions& options) {
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "grants issue"));
  SALLYPORT_TRY(const std::chrono::seconds lifetime, lifetime_from(options.ttl));
  SALLYPORT_CHECK_OK(check_subject_key(options.subject_key));
  SALLYPORT_TRY(json::array grants, read_grants(options.grant));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, open_for_grants(context));
  SALLYPORT_TRY(const grants::Signer authority, grant_authority(*workspace));
  SALLYPORT_TRY(const grants::NewToken wanted,
                wanted_token(*workspace, options, lifetime, std::move(grants)));
  return hand_out(*workspace, grants::issue(wanted, authority), person.who, options.grant);
}

Result<int> grants_attenuate(const Context& context, const AttenuateOptions& options) {
  SALLYPORT_TRY(const std::chrono::seconds lifetime, lifetime_from(options.grant.ttl));
  SALLYPORT_CHECK_OK(check_subject_key(options.grant.subject_key));
  SALLYPORT_TRY(const std::string parent_text, read_token_text(options.token));
  const Result<grants::TokenChain> parents = grants::read_token(parent_text);
  if (!parents) return fail(ErrorCode::Conflict, "this is not a grant: " + parents.error().message);
  const grants::Token& parent = parents->leaf();
  SALLYPORT_TRY(json::array grants, read_grants(options.grant.grant));
  name_only_parent(grants, parent);
  SALLYPORT_TRY(const grants::Signer holder, read_holder_key(options.key_file));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, open_for_grants(context));
  SALLYPORT_TRY(grants::NewToken wanted,
                wanted_token(*workspace, options.grant, lifetime, std::move(grants)));
  // By default the child expires with its parent.
  if (!options.grant.ttl) wanted.expires_at = parent.expires_at;
  wanted.issued_at = std::max(wanted.issued_at, parent.issued_at);
  return hand_out(*workspace, grants::attenuate(parent_text, wanted, holder), running_user(),
                  options.grant.grant);
}

Result<int> grants_revoke(const Context& context, const RevokeOptions& options) {
  SALLYPORT_CHECK_OK(check_reason(options.reason));
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "grants revoke"));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  ledger::Ledger& ledger = workspace->ledger();
  SALLYPORT_TRY(Revocation revoked, revocation(ledger, options.id, person.who, options.reason));
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(revoked.draft));
  SALLYPORT_TRY(const ledger::Positions written,
                ledger.append_blocking(std::move(drafts), core::Urgency::Announces));
  const std::uint64_t sequence = written.front().sequence;
  if (context.json()) {
    print_line(visible_json(canonical_json(json::object{{"grant_id", options.id},
                                                        {"known", revoked.known},
                                                        {"revoked", true},
                                                        {"sequence", sequence}})));
    return 0;
  }
  print_line(revoked.known
                 ? fmt::format("grant {} revoked, recorded as entry {}", options.id, sequence)
                 : fmt::format("grant {} revoked; it was never issued or seen here; recorded as "
                               "entry {}",
                               options.id, sequence));
  return 0;
}

void grant_options(Syntax& syntax, GrantOptions& options) {
  syntax.text("--subject", options.subject, "the principal who may use it", "PRINCIPAL").required();
  syntax.file("--grant", options.grant, "what the token allows, as JSON");
  syntax.text("--subject-key", options.subject_key,
              "public key with which the subject may delegate", "KEY");
}

const Command kGrantsIssue("grants issue", "issue a token", grants_issue,
                           [](Syntax& syntax, GrantOptions& options) {
                             grant_options(syntax, options);
                             syntax.text("--ttl", options.ttl,
                                         "how long the token is valid, at most 30d [1h]",
                                         "DURATION");
                             person_options(syntax, options.login);
                           });

const Command kGrantsAttenuate(
    "grants attenuate", "delegate a token: make one that allows less", grants_attenuate,
    [](Syntax& syntax, AttenuateOptions& options) {
      syntax.text("token", options.token, "a file, -, or the token itself", "TOKEN").required();
      grant_options(syntax, options.grant);
      syntax.text("--ttl", options.grant.ttl, "how long the token is valid [as its parent]",
                  "DURATION");
      syntax.file("--key-file", options.key_file, "private key of the token's subject");
    });

const Command kGrantsRevoke(
    "grants revoke", "revoke a token", grants_revoke, [](Syntax& syntax, RevokeOptions& options) {
      syntax.text("id", options.id, "id of the token", "ID").required();
      syntax.text("--reason", options.reason, "reason; becomes part of the record").required();
      person_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
