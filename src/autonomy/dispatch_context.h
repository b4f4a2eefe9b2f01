// Where a call comes from: made by the front, one for every call (AT-12).
//
//   DispatchContext context{.dispatch_id = id, .agent_id = "deploy-bot", .action = "write_file"};
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "autonomy/autonomy_policy.h"
#include "base/clock.h"
#include "base/entropy.h"

namespace sallyport::autonomy {

struct Trigger {
  std::string id{};
  std::string provider{};
  std::string kind{};
  std::string trace_id{};
  std::map<std::string, std::string> headers{};

  bool operator==(const Trigger&) const = default;
};

struct DispatchContext {
  std::string dispatch_id{};
  Trigger trigger{};
  std::optional<std::string> replay_of_event_id{};
  std::string binding_id{};
  std::uint64_t binding_version = 0;
  std::string agent_id{};
  std::string action{};
  std::optional<Autonomy> autonomy_tier{};

  bool operator==(const DispatchContext&) const = default;
};

// `replay_of_event_id` is left out where there is none; a tier that is not there is `null`.
json::object to_json(const DispatchContext& context);
// `InvalidInput` names the member that is missing, unknown or of another type.
Result<DispatchContext> dispatch_context_from_json(const json::value& value,
                                                   std::string where = "dispatch");

// The policy's agent, else that of the context, else `runtime` (AT-10). `InvalidInput` where the
// front authenticated one and the policy names another.
Result<std::string> agent_of(const AutonomyPolicy& policy, const DispatchContext& context,
                             std::string_view authenticated);

// That of the context, else a fresh one (AT-11).
std::string trace_of(const DispatchContext& context, const Clock& clock, Entropy& entropy);

}  // namespace sallyport::autonomy
