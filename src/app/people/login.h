// Authenticates a person who answers or changes something: by an approver key and its passphrase,
// or by a token (AP-28). Running as the same user as the agent is not enough for either.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/context.h"
#include "app/people/approver_key.h"
#include "app/people/login_options.h"
#include "core/plan/approval_rules.h"

namespace sallyport::app {

struct Login {
  std::string name;
  std::string door;      // cli:key, cli:token
  std::string known_by;  // for records: `key:` and digits of its digest, or `token`
  std::optional<ApproverKey> key;
  std::shared_ptr<const core::ApprovalRules> rules;  // the list that names the person
};

// Refuses processes of agents, whatever they show. `Unauthenticated`: not registered with that role,
// or another key or token than the registered one; the attempt is on record then. `command` is what
// was tried.
Result<Login> log_in(const Context& context, const LoginOptions& options, std::string_view command,
                     std::string_view role = "approver");

// The person who changes evidence or authority, for the record.
struct Person {
  std::string who;  // the person and the key, or the user of this process if no one is registered
};

// For every command that changes evidence or authority. A process of an agent is refused. If people
// are registered, one with the role `controller` must log in; otherwise the process stands for its
// user. `command` is what was tried.
Result<Person> authorize_change(const Context& context, const LoginOptions& options,
                                std::string_view command, std::string_view role = "controller");

}  // namespace sallyport::app
