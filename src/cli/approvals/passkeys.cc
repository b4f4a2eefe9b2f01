// `sallyport passkeys`: signs for a key that a page of the console has made, lists and removes
// them.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/daemon/api/passkeys_api.h"
#include "app/people/agent_ancestry.h"
#include "app/people/login.h"
#include "app/terminal/output.h"
#include "base/json_members.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "cli/service/ask_daemon.h"
#include "core/approval/vote_check.h"
#include "ledger/read/store_reader.h"
#include "trust/trust_record.h"

namespace sallyport::app {

namespace {

struct PasskeysOptions {
  std::string id{};  // of a key; to add one, the code that the page shows
  LoginOptions login{};
};

std::string kind_of(const trust::Enrolment& one) {
  return one.is_passkey() ? "passkey" : "browser key";
}

// What is about to be signed, for a person to compare with the page.
void show(const trust::Enrolment& one) {
  say(fmt::format("{} of {}", kind_of(one), visible(one.reviewer)));
  say(fmt::format("  page        {}", visible(one.origin)));
  say(fmt::format("  key         {} {}", one.alg, visible(one.public_key)));
  say(fmt::format("  credential  {}", visible(one.credential_id)));
  say(fmt::format("  made        {}", visible(one.at)));
}

Result<std::vector<trust::Enrolment>> enrolled(Workspace& workspace) {
  ledger::StoreReader records(workspace.store());
  SALLYPORT_TRY(const std::vector<std::string> texts, core::enrolled_keys(records));
  return trust::enrolments_in(texts);
}

// The daemon says what waits; what is signed is what this program has read and shown.
Result<trust::Enrolment> waiting(const std::filesystem::path& data_dir, const std::string& code,
                                 const std::string& ledger) {
  SALLYPORT_TRY(const json::object said,
                ask_daemon(data_dir, {{"passkey", json::object{{"code", code}}}}));
  const json::object* const statement = object_in(said, "statement");
  if (statement == nullptr) return fail(ErrorCode::Unavailable, "the daemon gave no statement");
  SALLYPORT_TRY(trust::Enrolment one, trust::Enrolment::from_statement(*statement));
  if (one.ledger == ledger) return one;
  return fail(ErrorCode::Unauthenticated, "the statement is about another ledger");
}

Result<int> passkeys_add(const Context& context, const PasskeysOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "passkeys add"));
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const std::string ledger, origin_of(*workspace));
  SALLYPORT_TRY(const trust::Enrolment one, waiting(place.data_dir, options.id, ledger));
  if (!context.json()) {
    show(one);
    SALLYPORT_CHECK_OK(finish_output());
  }
  LoginOptions login = options.login;
  if (!login.key_file) login.key_file = approver_key_file(place.data_dir, one.reviewer);
  SALLYPORT_TRY(const Login person, log_in(context, login, "passkeys add"));
  if (!person.key || person.name != one.reviewer) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("this key is not that of `{:.80}`", one.reviewer));
  }
  SALLYPORT_TRY(
      const json::object added,
      ask_daemon(
          place.data_dir,
          {{"passkey", json::object{{"code", options.id},
                                    {"signature", person.key->sign(one.statement_text())}}}}));
  const std::string id = text_or_empty(added, "added");
  say(context.json() ? json::serialize(json::object{{"added", id}, {"reviewer", one.reviewer}})
                     : fmt::format("enrolled: it answers as {} from now on", one.reviewer));
  return 0;
}

Result<int> passkeys_list(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const std::vector<trust::Enrolment> all, enrolled(*workspace));
  if (all.empty() && !context.json()) say("no passkeys");
  for (const trust::Enrolment& one : all) {
    json::object told = enrolment_json(one);
    told["reviewer"] = one.reviewer;
    told["removed_at"] = one.counts() ? json::value() : json::value(one.removed_at);
    say(context.json() ? visible_json(canonical_json(told))
                       : fmt::format("{}  {}  {}  {}  {}{}", one.credential_id,
                                     visible(one.reviewer), kind_of(one), visible(one.origin),
                                     one.at, one.counts() ? "" : "  removed " + one.removed_at));
  }
  return 0;
}

Result<int> passkeys_remove(const Context& context, const PasskeysOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "passkeys remove"));
  SALLYPORT_TRY(const Login person, log_in(context, options.login, "passkeys remove"));
  if (!person.key) return fail(ErrorCode::Unauthenticated, "this takes your approver key");
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  const std::string at = trust::whole_seconds(workspace->clock().wall());
  SALLYPORT_CHECK_OK(workspace->ledger().transact(
      [&](ledger::WriteView& view) -> Result<std::vector<core::Draft>> {
        SALLYPORT_TRY(const auto stored, view.fact(core::kPasskeySpace, options.id));
        const Result<trust::Enrolment> one = trust::Enrolment::parse(stored.value_or("null"));
        if (!one || !one->counts() || one->reviewer != person.name) {
          return fail(ErrorCode::NotFound, fmt::format("`{:.80}` has no such key", person.name));
        }
        return std::vector{
            passkey_removed(*one, fmt::format("{} ({})", person.name, person.known_by), at)};
      }));
  say("removed: it counts no longer");
  return 0;
}

const Command kPasskeysAdd(
    "passkeys add", "sign for a key that a page of the console has made", passkeys_add,
    [](Syntax& syntax, PasskeysOptions& options) {
      syntax.text("code", options.id, "what the page shows", "CODE").required();
      own_key_options(syntax, options.login);
    });

const Command kPasskeysList("passkeys list", "the keys that people have enrolled", passkeys_list);

const Command kPasskeysRemove(
    "passkeys remove", "remove one of your keys", passkeys_remove,
    [](Syntax& syntax, PasskeysOptions& options) {
      syntax.text("id", options.id, "its id, as `passkeys list` shows it", "ID").required();
      own_key_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
