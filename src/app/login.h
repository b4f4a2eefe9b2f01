// Who answers: a person with an approver key and its passphrase, or with a token (AP-28). Running
// as the same user as the agent is not enough for either.
#pragma once

#include <optional>
#include <string>

#include "app/approver_key.h"
#include "app/commands.h"

namespace sallyport::app {

struct Login {
  std::string name;
  std::string door;  // cli:key, cli:token
  std::optional<ApproverKey> key;
};

// `Unauthenticated`: not registered as approver, another key or token than the registered one.
Result<Login> log_in(const Context& context, const LoginOptions& options);

}  // namespace sallyport::app
