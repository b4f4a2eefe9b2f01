// `sallyport passkeys`: signs for a key that a page of the console has made, lists and removes
// them.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "cli/service/console_door_client.h"
#include "core/approval/vote_check.h"
#include "daemon/api/passkeys_api.h"
#include "ledger/read/store_reader.h"
#include "people/agent_ancestry.h"
#include "people/login.h"
#include "terminal/output.h"
#include "trust/trust_record.h"

namespace sallyport::app {

namespace {

struct PasskeysOptions {
  std::string id{};  // of a key; to add one, the code that the page shows
  LoginOptions login{};
};

std::string kind_of(const trust::Enrolment& enrolment) {
  return enrolment.is_passkey() ? "passkey" : "browser key";
}

// Prints what will be signed, for a person to compare with the page.
void show(const trust::Enrolment& enrolment) {
  print_line(fmt::format("{} of {}", kind_of(enrolment), visible(enrolment.reviewer)));
  print_line(fmt::format("  page        {}", visible(enrolment.origin)));
  print_line(fmt::format("  key         {} {}", enrolment.alg, visible(enrolment.public_key)));
  print_line(fmt::format("  credential  {}", visible(enrolment.credential_id)));
  print_line(fmt::format("  made        {}", visible(enrolment.at)));
}

Result<std::vector<trust::Enrolment>> enrolled(Workspace& workspace) {
  ledger::StoreReader records(workspace.store());
  SALLYPORT_TRY(const std::vector<std::string> texts, core::enrolled_keys(records));
  return trust::enrolments_in(texts);
}

// Gets the waiting statement from the daemon. This program signs what it has read and shown itself.
Result<trust::Enrolment> waiting(const std::filesystem::path& data_dir, const std::string& code,
                                 const std::string& ledger) {
  SALLYPORT_TRY(const json::object response,
                ask_console_door(data_dir, {{"passkey", json::object{{"code", code}}}}));
  const json::object* const statement = object_in(response, "statement");
  if (statement == nullptr) return fail(ErrorCode::Unavailable, "the daemon gave no statement");
  SALLYPORT_TRY(trust::Enrolment enrolment, trust::Enrolment::from_statement(*statement));
  if (enrolment.ledger == ledger) return enrolment;
  return fail(ErrorCode::Unauthenticated, "the statement is about another ledger");
}

Result<int> passkeys_add(const Context& context, const PasskeysOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "passkeys add"));
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const std::string ledger, origin_of(*workspace));
  SALLYPORT_TRY(const trust::Enrolment enrolment, waiting(place.data_dir, options.id, ledger));
  if (!context.json()) {
    show(enrolment);
    SALLYPORT_CHECK_OK(finish_output());
  }
  LoginOptions login = options.login;
  if (!login.key_file) login.key_file = approver_key_file(place.data_dir, enrolment.reviewer);
  SALLYPORT_TRY(const Login person, log_in(context, login, "passkeys add"));
  if (!person.key || person.name != enrolment.reviewer) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("this key is not that of `{:.80}`", enrolment.reviewer));
  }
  SALLYPORT_TRY(const json::object added,
                ask_console_door(
                    place.data_dir,
                    {{"passkey",
                      json::object{{"code", options.id},
                                   {"signature", person.key->sign(enrolment.statement_text())}}}}));
  const std::string id = text_or_empty(added, "added");
  print_line(context.json()
                 ? json::serialize(json::object{{"added", id}, {"reviewer", enrolment.reviewer}})
                 : fmt::format("enrolled: it answers as {} from now on", enrolment.reviewer));
  return 0;
}

Result<int> passkeys_list(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const std::vector<trust::Enrolment> all, enrolled(*workspace));
  if (all.empty() && !context.json()) print_line("no passkeys");
  for (const trust::Enrolment& enrolment : all) {
    json::object shown = enrolment_json(enrolment);
    shown["reviewer"] = enrolment.reviewer;
    shown["removed_at"] = enrolment.counts() ? json::value() : json::value(enrolment.removed_at);
    print_line(context.json()
                   ? visible_json(canonical_json(shown))
                   : fmt::format("{}  {}  {}  {}  {}{}", enrolment.credential_id,
                                 visible(enrolment.reviewer), kind_of(enrolment),
                                 visible(enrolment.origin), enrolment.at,
                                 enrolment.counts() ? "" : "  removed " + enrolment.removed_at));
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
        const Result<trust::Enrolment> enrolment = trust::Enrolment::parse(stored.value_or("null"));
        if (!enrolment || !enrolment->counts() || enrolment->reviewer != person.name) {
          return fail(ErrorCode::NotFound, fmt::format("`{:.80}` has no such key", person.name));
        }
        return std::vector{
            passkey_removed(*enrolment, fmt::format("{} ({})", person.name, person.known_by), at)};
      }));
  print_line("removed: it counts no longer");
  return 0;
}

const Command kPasskeysAdd(
    "passkeys add", "sign for a key that a page of the console has created", passkeys_add,
    [](Syntax& syntax, PasskeysOptions& options) {
      syntax.text("code", options.id, "code that the page shows", "CODE").required();
      own_key_options(syntax, options.login);
    });

const Command kPasskeysList("passkeys list", "list the keys that people have enrolled",
                            passkeys_list);

const Command kPasskeysRemove(
    "passkeys remove", "remove one of your keys", passkeys_remove,
    [](Syntax& syntax, PasskeysOptions& options) {
      syntax.text("id", options.id, "id of the key, as `passkeys list` shows it", "ID").required();
      own_key_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
