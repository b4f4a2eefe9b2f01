// The section `console` of the configuration file: the web console at `/console/`. It stands at the
// top of the file or in `serve`.
//
//   console:
//     enabled: true
//     strong: [dual_control, requires_human]   # questions that a session alone cannot answer
//     oidc: ...                                # see oidc_config.h
#pragma once

#include "app/config/oidc_config.h"
#include "app/people/strong_questions.h"
#include "policy/mapping.h"

namespace sallyport::app {

struct ConsoleConfig {
  bool enabled = true;
  StrongQuestions strong{};
  std::optional<OidcConfig> oidc{};
};

policy::Mapping console_keys(ConsoleConfig& out);

}  // namespace sallyport::app
