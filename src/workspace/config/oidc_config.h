// The section `oidc` of `console`: an OpenID provider at which people sign in (CO-18).
//
//   oidc:
//     issuer: https://login.example.com
//     client_id: sallyport
//     client_secret_env: SALLYPORT_OIDC_SECRET        # a public client has none
//     people: [{who: "248289761001", as: "user:ada"}]  # by the claim `sub`, or by `claim`
//     groups: [{group: auditors, roles: [viewer, auditor]}]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/mapping.h"

namespace sallyport::app {

struct OidcConfig {
  struct Person {
    std::string who;  // the value of the claim
    std::string as;   // a registered person, with the roles of that registration
  };
  struct Group {
    std::string group;
    std::vector<std::string> roles;  // never `approver`: only registered people answer
  };
  // A person who signed in. Empty `roles`: those with which `name` is registered.
  struct Admitted {
    std::string name;
    std::vector<std::string> roles;
  };

  std::string issuer{};
  std::string client_id{};
  std::string client_secret_env{};
  std::string scope = "openid";
  std::string claim = "sub";
  std::string groups_claim = "groups";
  std::vector<Person> people{};
  std::vector<Group> groups{};

  // No value: neither the person nor one of the groups is named. An entry for the person wins.
  std::optional<Admitted> admit(const std::string& who,
                                const std::vector<std::string>& groups_of) const;
};

config::Mapping oidc_keys(OidcConfig& out);

}  // namespace sallyport::app
