#include "app/config/console_config.h"

namespace sallyport::app {

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

policy::Mapping console_keys(ConsoleConfig& out) {
  // In the order of the enumeration.
  const std::vector<std::string> words{"read_only", "propose", "activate"};
  policy::Mapping keys("the web console");
  keys.optional("enabled", "whether it is served at /console/ [true]", policy::truth_schema(),
                policy::read_truth(out.enabled))
      .optional("policies",
                "whether controllers may keep drafts of policies, and put one in force "
                "[read_only]",
                policy::choice_schema(words),
                policy::read_choice(words, [&out](std::size_t choice) {
                  out.policies = static_cast<PolicyWrites>(choice);
                }));
  return keys;
}

}  // namespace sallyport::app
