#include "workspace/config/oidc_config.h"

#include <algorithm>

#include "workspace/config/config_values.h"

namespace sallyport::app {

namespace {

using config::Mapping;
using config::Place;
using config::ReadValue;

constexpr std::size_t kMostNamed = 10'000;
constexpr std::size_t kLongestWord = 256;
const std::vector<std::string> kRoles = {"viewer", "auditor", "controller"};

Mapping person_keys(OidcConfig::Person& out) {
  Mapping keys("a person at the provider");
  keys.required("who", "value of the claim that names the person",
                config::text_schema(kLongestWord), config::read_text(out.who, kLongestWord))
      .required("as", "name of the registered person", name_schema(), read_name(out.as));
  return keys;
}

Mapping group_keys(OidcConfig::Group& out) {
  Mapping keys("a group of the provider");
  const auto take = [&out](std::size_t which) { out.roles.push_back(kRoles[which]); };
  keys.required("group", "name of the group", config::text_schema(kLongestWord),
                config::read_text(out.group, kLongestWord))
      .required("roles",
                "roles of its members; only registered people can answer approval requests",
                config::list_schema(config::choice_schema(kRoles), kRoles.size()),
                config::read_list(kRoles.size(), config::read_choice(kRoles, take)));
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
  keys.required("issuer", "URL of the provider", config::text_schema(kLongestConfigText),
                read_issuer(out.issuer))
      .required("client_id", "id of this server as a client of the provider",
                config::text_schema(kLongestWord), config::read_text(out.client_id, kLongestWord))
      .optional("client_secret_env", "environment variable that holds the client secret [none]",
                config::text_schema(kLongestWord),
                config::read_text(out.client_secret_env, kLongestWord))
      .optional("scope", "scopes to request [openid]", config::text_schema(kLongestConfigText),
                config::read_text(out.scope, kLongestConfigText))
      .optional("claim", "claim that names the person [sub]", config::text_schema(kLongestWord),
                config::read_text(out.claim, kLongestWord))
      .optional("groups_claim", "claim that lists the groups of the person [groups]",
                config::text_schema(kLongestWord),
                config::read_text(out.groups_claim, kLongestWord))
      .optional("people",
                "people at the provider, each with the registered person that they sign in as",
                config::list_schema(person_keys(any_person).schema(), kMostNamed),
                config::read_list(kMostNamed,
                                  [&out](const Place& place) {
                                    return person_keys(out.people.emplace_back()).read(place);
                                  }))
      .optional("groups", "groups whose members may sign in, and their roles",
                config::list_schema(group_keys(any_group).schema(), kMostNamed),
                config::read_list(kMostNamed, [&out](const Place& place) {
                  return group_keys(out.groups.emplace_back()).read(place);
                }));
  return keys;
}

}  // namespace sallyport::app
