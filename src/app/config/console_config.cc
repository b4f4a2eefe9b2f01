#include "app/config/console_config.h"

#include <boost/json.hpp>

#include "base/try.h"

namespace sallyport::app {

namespace {

using policy::Place;

const std::vector<std::string> kStrong = {"dual_control", "requires_human"};

// What stands in the list is strong, and nothing else is.
policy::ReadValue read_strong(StrongQuestions& out) {
  return [&out](const Place& place) -> Result<void> {
    out = {.dual_control = false, .requires_human = false};
    const auto take = [&out](std::size_t which) {
      (which == 0 ? out.dual_control : out.requires_human) = true;
    };
    return policy::read_list(kStrong.size(), policy::read_choice(kStrong, take))(place);
  };
}

}  // namespace

policy::Mapping console_keys(ConsoleConfig& out) {
  OidcConfig any_provider;
  policy::Mapping keys("the web console");
  keys.optional("enabled", "whether it is served at /console/ [true]", policy::truth_schema(),
                policy::read_truth(out.enabled))
      .optional("strong",
                "questions that take a passkey or the registered key over HTTP, never a session "
                "or token alone [dual_control, requires_human]",
                policy::list_schema(policy::choice_schema(kStrong), kStrong.size()),
                read_strong(out.strong))
      .optional("oidc", "an OpenID provider at which people sign in [none]",
                oidc_keys(any_provider).schema(),
                [&out](const Place& place) { return oidc_keys(out.oidc.emplace()).read(place); });
  return keys;
}

}  // namespace sallyport::app
