#include "trust/approver_book.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "trust/enrolments.h"

namespace sallyport::trust {

std::string token_digest(std::string_view token) {
  return "sha256:" + hex(sha256(token));
}

Result<void> ApproverBook::check(const std::string& reviewer, std::string_view statement,
                                 std::string_view signature) const {
  const Reviewer* const person = people_.find(reviewer);
  if (person == nullptr || !person->has_role("approver")) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("`{:.80}` is not registered as approver", reviewer));
  }
  const bool good = person->key ? is_signature_of(statement, signature, *person->key)
                                : person->token.has_value() || person->client.has_value();
  if (good) return {};
  return fail(ErrorCode::Unauthenticated,
              fmt::format("the answer is not signed by the key of `{:.80}`", reviewer));
}

Result<void> ApproverBook::check_answer(const std::string& reviewer, std::string_view statement,
                                        std::string_view signature,
                                        const std::vector<std::string>& enrolled) const {
  Result<void> registered = check(reviewer, statement, signature);
  const Reviewer* const person = people_.find(reviewer);
  const bool may = person != nullptr && person->has_role("approver");
  const bool passkey = signature.starts_with(Assertion::kMark);
  if (!may || (registered && !passkey)) return registered;
  const std::vector<Enrolment> all = enrolments_in(enrolled);
  if (passkey) return check_passkey(*person, statement, signature, all);
  if (is_of_browser_key(*person, statement, signature, all)) return {};
  return registered;
}

Result<void> ApproverBook::check_control(const std::string& reviewer, std::string_view statement,
                                         std::string_view signature) const {
  constexpr std::size_t kMostKept = 1024;
  std::string key = fmt::format("{}\n{}", signature, statement);
  const auto known = controls_.with([&](const auto& kept) -> std::optional<Result<void>> {
    const auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  });
  if (known) return *known;
  const Result<void> checked = check_controller(people_, reviewer, statement, signature);
  controls_.with([&](auto& kept) {
    if (kept.size() >= kMostKept) kept.clear();
    kept.insert_or_assign(std::move(key), checked);
  });
  return checked;
}

std::string ApproverBook::credential(const std::string& reviewer) const {
  const Reviewer* const person = people_.find(reviewer);
  if (person == nullptr) return {};
  if (person->key) return "key:" + hex(sha256(as_text(*person->key)));
  if (person->token) return "token:" + person->token->substr(7);
  return person->client ? "client:" + *person->client : std::string();
}

bool ApproverBook::is_program(const std::string& reviewer) const {
  const Reviewer* const person = people_.find(reviewer);
  return person != nullptr && person->has_role("approver") && !person->key;
}

std::string ApproverBook::of_client(const std::string& principal) const {
  for (const Reviewer& person : people_.people) {
    if (person.client == principal && person.has_role("approver")) return person.name;
  }
  return {};
}

std::vector<std::string> ApproverBook::with_role(std::string_view role) const {
  std::vector<std::string> names;
  for (const Reviewer& person : people_.people) {
    if (person.has_role("approver") && person.has_role(role)) names.push_back(person.name);
  }
  return names;
}

json::value ApproverBook::dump() const {
  json::array people;
  for (const Reviewer& person : people_.people) {
    json::object entry{{"name", person.name},
                       {"key", person.key ? json::value(key_text(*person.key)) : json::value()},
                       {"token", person.token ? json::value(*person.token) : json::value()},
                       {"roles", json::value_from(person.roles)}};
    if (person.client) entry["client"] = *person.client;
    people.push_back(std::move(entry));
  }
  return people;
}

}  // namespace sallyport::trust
