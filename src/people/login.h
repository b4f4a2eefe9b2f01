// Authenticates a person who answers or changes something: by an approver key and its passphrase,
// or by a token (AP-28). Running as the same user as the agent is not enough for either.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/plan/approval_rules.h"
#include "people/approver_key.h"
#include "people/login_options.h"
#include "workspace/context.h"

namespace sallyport::app {

struct Login {
  std::string name;
  std::string door;      // cli:key, cli:token
  std::string known_by;  // for records: `key:` and digits of its digest, or `token`
  std::optional<ApproverKey> key;
  std::shared_ptr<const core::ApprovalRules> rules;  // the list that names the person
};

// Refuses processes of agents, with any credential. `Unauthenticated`: the person is not registered
// with that role, or the key or token is not the registered one; the attempt of `command` is
// recorded.
Result<Login> log_in(const Context& context, const LoginOptions& options, std::string_view command,
                     std::string_view role = "approver");

// Records that `command` was refused, if the error is `Unauthenticated`: a failed attempt is
// evidence. The refusal stands even if it cannot be recorded. No workspace may be open.
void record_refusal(const Context& context, std::string_view command, const Error& error);

// The person who changes evidence or authority, for the record.
struct Person {
  std::string who;  // the person and the key, or the user of this process if no one is registered
};

// For every command that changes evidence or authority. Refuses processes of agents. If people are
// registered, a person with the role `controller` must log in; otherwise the user of the process
// counts. `command` is for the record of a refusal.
Result<Person> authorize_change(const Context& context, const LoginOptions& options,
                                std::string_view command, std::string_view role = "controller");

}  // namespace sallyport::app
