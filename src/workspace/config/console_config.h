// The section `console` of the configuration file: the web console at `/console/`. It is at the top
// level of the file or in `serve`.
//
//   console:
//     enabled: true
//     policies: read_only      # or propose, or activate
//     strong: [dual_control, requires_human]   # questions that a session alone cannot answer
//     oidc: ...                                # see oidc_config.h
#pragma once

#include <optional>
#include <string_view>

#include "config/mapping.h"
#include "workspace/config/oidc_config.h"
#include "workspace/config/strong_questions.h"

namespace sallyport::app {

// The rights of the console on policies, whose files are often managed elsewhere, such as in git.
enum class PolicyWrites { ReadOnly, Propose, Activate };
std::string_view to_string(PolicyWrites writes);

struct ConsoleConfig {
  bool enabled = true;
  PolicyWrites policies = PolicyWrites::ReadOnly;
  StrongQuestions strong{};
  std::optional<OidcConfig> oidc{};
};

config::Mapping console_keys(ConsoleConfig& out);

}  // namespace sallyport::app
