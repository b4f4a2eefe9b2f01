#include "daemon/login/api_people.h"

#include <fmt/format.h>
#include <sodium.h>

#include "base/encoding.h"
#include "base/try.h"
#include "core/approval/vote_check.h"
#include "trust/approver_book.h"
#include "trust/enrolments.h"

namespace sallyport::app {

std::string passkey_login(const std::string& credential_id, const trust::Reviewer& person) {
  return fmt::format("{} {}", credential_id, person.key ? hex(*person.key) : "");
}

ApiPeople::ApiPeople(Parts parts)
    : records_(parts.records),
      files_(Files{std::nullopt, policy::ReviewerFile(std::move(parts.folder), true)}),
      oidc_(std::move(parts.config)) {
  if (parts.policy) {
    files_.with([&](Files& files) { files.policy.emplace(std::move(*parts.policy)); });
  }
}

Result<policy::ReviewerFile::List> ApiPeople::now() const {
  return files_.with([](Files& files) -> Result<policy::ReviewerFile::List> {
    if (files.policy) {
      SALLYPORT_TRY(policy::ReviewerFile::List people, files.policy->now());
      if (!people->people.empty()) return people;
    }
    return files.folder.now();
  });
}

// Every token is compared, so that the time says nothing about which one is near.
Result<std::optional<api::Person>> ApiPeople::with_token(std::string_view token) {
  SALLYPORT_TRY(const policy::ReviewerFile::List people, now());
  const std::string digest = trust::token_digest(token);
  const trust::Reviewer* found = nullptr;
  for (const trust::Reviewer& person : people->people) {
    const bool same = person.token && person.token->size() == digest.size() &&
                      sodium_memcmp(person.token->data(), digest.data(), digest.size()) == 0;
    if (same) found = &person;
  }
  if (found == nullptr) return std::optional<api::Person>();
  return std::optional(api::Person{found->name, api::Roles::named(found->roles), "token", ""});
}

Result<std::optional<api::Roles>> ApiPeople::roles_of(const std::string& name) {
  SALLYPORT_TRY(const policy::ReviewerFile::List people, now());
  const trust::Reviewer* const person = people->find(name);
  if (person == nullptr) return std::optional<api::Roles>();
  return std::optional(api::Roles::named(person->roles));
}

// The command line and other instances remove passkeys too, so the log is asked each time.
Result<bool> ApiPeople::has_passkey(const trust::Reviewer& person, const std::string& login) const {
  const std::string id = login.substr(0, login.find(' '));
  if (!person.key || login != passkey_login(id, person)) return false;
  SALLYPORT_TRY(const auto stored, records_.fact(core::kPasskeySpace, id));
  const Result<trust::Enrolment> one = trust::Enrolment::parse(stored.value_or("null"));
  return one && one->counts() && one->reviewer == person.name;
}

// A session lasts no longer than the token, the key behind the link, or the passkey that it began
// with.
Result<bool> ApiPeople::is_vouched_for(const api::Session& session) const {
  SALLYPORT_TRY(const policy::ReviewerFile::List people, now());
  const trust::Reviewer* const person = people->find(session.name);
  if (person == nullptr) return false;
  if (session.method == "token") return person->token == session.login_id;
  if (session.method == "link_key") return person->key && hex(*person->key) == session.login_id;
  if (session.method == "passkey") return has_passkey(*person, session.login_id);
  return true;
}

// A person of a provider is looked up in the current configuration, as when the session began.
Result<std::optional<api::Roles>> ApiPeople::roles_now(const api::Session& session) {
  if (session.method != "oidc") {
    SALLYPORT_TRY(const bool known, is_vouched_for(session));
    if (!known) return std::optional<api::Roles>();
    return roles_of(session.name);
  }
  SALLYPORT_TRY(const OidcPeople::Now config, oidc_.now());
  const auto admitted = config ? config->admit(session.login_id, session.groups) : std::nullopt;
  if (!admitted || admitted->name != session.name) return std::optional<api::Roles>();
  if (admitted->roles.empty()) return roles_of(session.name);
  return std::optional(api::Roles::named(admitted->roles));
}

}  // namespace sallyport::app
