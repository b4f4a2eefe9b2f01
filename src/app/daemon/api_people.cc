#include "app/daemon/api_people.h"

#include <sodium.h>

#include "base/try.h"
#include "trust/approver_book.h"

namespace sallyport::app {

ApiPeople::ApiPeople(std::optional<std::filesystem::path> policy, std::filesystem::path folder)
    : files_(Files{std::nullopt, policy::ReviewerFile(std::move(folder), true)}) {
  if (policy) {
    files_.with([&](Files& files) { files.policy.emplace(std::move(*policy)); });
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

}  // namespace sallyport::app
