#include "app/config/oidc_config.h"

#include <algorithm>

#include "app/config/config_values.h"

namespace sallyport::app {

namespace {

using policy::Mapping;
using policy::Place;
using policy::ReadValue;

constexpr std::size_t kMostNamed = 10'000;
constexpr std::size_t kLongestWord = 256;
const std::vector<std::string> kRoles = {"viewer", "auditor", "controller"};

Mapping person_keys(OidcConfig::Person& out) {
  Mapping keys("a person whom the provider knows");
  keys.required("who", "what the claim says", policy::text_schema(kLongestWord),
                policy::read_text(out.who, kLongestWord))
      .required("as", "the registered person", name_schema(), read_name(out.as));
  return keys;
}

Mapping group_keys(OidcConfig::Group& out) {
  Mapping keys("a group of the provider");
  const auto take = [&out](std::size_t which) { out.roles.push_back(kRoles[which]); };
  keys.required("group", "its name", policy::text_schema(kLongestWord),
                policy::read_text(out.group, kLongestWord))
      .required("roles", "what its people may do; answering is for registered people",
                policy::list_schema(policy::choice_schema(kRoles), kRoles.size()),
                policy::read_list(kRoles.size(), policy::read_choice(kRoles, take)));
  return keys;
}

}  // namespace

std::optional<OidcConfig::Admitted> OidcConfig::admit(
    const std::string& who, const std::vector<std::string>& groups_of) const {
  const auto named = std::ranges::find(people, who, &Person::who);
  if (named != people.end()) return Admitted{named->as, {}};
  Admitted guest{"oidc:" + who, {}};
  for (const Group& one : groups) {
    if (std::ranges::find(groups_of, one.group) == groups_of.end()) continue;
    guest.roles.insert(guest.roles.end(), one.roles.begin(), one.roles.end());
  }
  return guest.roles.empty() ? std::nullopt : std::optional(std::move(guest));
}

Mapping oidc_keys(OidcConfig& out) {
  OidcConfig::Person any_person;
  OidcConfig::Group any_group;
  Mapping keys("an OpenID provider at which people sign in");
  keys.required("issuer", "its address", policy::text_schema(kLongestConfigText),
                read_issuer(out.issuer))
      .required("client_id", "how it knows us", policy::text_schema(kLongestWord),
                policy::read_text(out.client_id, kLongestWord))
      .optional("client_secret_env", "variable of the environment that holds our secret [none]",
                policy::text_schema(kLongestWord),
                policy::read_text(out.client_secret_env, kLongestWord))
      .optional("scope", "what is asked for [openid]", policy::text_schema(kLongestConfigText),
                policy::read_text(out.scope, kLongestConfigText))
      .optional("claim", "the claim by which people are named [sub]",
                policy::text_schema(kLongestWord), policy::read_text(out.claim, kLongestWord))
      .optional("groups_claim", "the claim that lists groups [groups]",
                policy::text_schema(kLongestWord),
                policy::read_text(out.groups_claim, kLongestWord))
      .optional("people", "who signs in as which registered person",
                policy::list_schema(person_keys(any_person).schema(), kMostNamed),
                policy::read_list(kMostNamed,
                                  [&out](const Place& place) {
                                    return person_keys(out.people.emplace_back()).read(place);
                                  }))
      .optional("groups", "groups whose members may sign in, and their roles",
                policy::list_schema(group_keys(any_group).schema(), kMostNamed),
                policy::read_list(kMostNamed, [&out](const Place& place) {
                  return group_keys(out.groups.emplace_back()).read(place);
                }));
  return keys;
}

}  // namespace sallyport::app
