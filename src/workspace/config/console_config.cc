#include "workspace/config/console_config.h"

namespace sallyport::app {

namespace {

using config::Place;

const std::vector<std::string> kStrong = {"dual_control", "requires_human"};

// Only the listed kinds are strong.
config::ReadValue read_strong(StrongQuestions& out) {
  return [&out](const Place& place) -> Result<void> {
    out = {.dual_control = false, .requires_human = false};
    const auto take = [&out](std::size_t which) {
      (which == 0 ? out.dual_control : out.requires_human) = true;
    };
    return config::read_list(kStrong.size(), config::read_choice(kStrong, take))(place);
  };
}

}  // namespace

std::string_view to_string(PolicyWrites writes) {
  switch (writes) {
    case PolicyWrites::ReadOnly:
      return "read_only";
    case PolicyWrites::Propose:
      return "propose";
    case PolicyWrites::Activate:
      return "activate";
  }
  return "";
}

config::Mapping console_keys(ConsoleConfig& out) {
  OidcConfig any_provider;
  // In the order of the enumeration.
  const std::vector<std::string> words{"read_only", "propose", "activate"};
  config::Mapping keys("the web console");
  keys.optional("enabled", "whether it is served at /console/ [true]", config::truth_schema(),
                config::read_truth(out.enabled))
      .optional("strong",
                "questions that need a passkey or the registered key over HTTP; a session or "
                "token alone is not enough [dual_control, requires_human]",
                config::list_schema(config::choice_schema(kStrong), kStrong.size()),
                read_strong(out.strong))
      .optional("oidc", "an OpenID provider where people sign in [none]",
                oidc_keys(any_provider).schema(),
                [&out](const Place& place) { return oidc_keys(out.oidc.emplace()).read(place); })
      .optional("policies",
                "whether controllers may store drafts of policies, and put a policy in force "
                "[read_only]",
                config::choice_schema(words),
                config::read_choice(words, [&out](std::size_t choice) {
                  out.policies = static_cast<PolicyWrites>(choice);
                }));
  return keys;
}

}  // namespace sallyport::app
