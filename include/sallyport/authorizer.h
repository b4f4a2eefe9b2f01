// An authorizer is a function of the host that decides about each call, as one more deciding guard.
// Its JSON shapes are those of the agent runtime mentra (EV-87).
//
//   Result<Authorization> decide(const AuthorizationRequest& request) {
//     if (request.preview.side_effect_level == SideEffectLevel::None) return Authorization{};
//     return Authorization{Authorization::Kind::Prompt, "touches the world"};
//   }
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "sallyport/json.h"
#include "sallyport/preview.h"
#include "sallyport/result.h"

namespace sallyport {

// A value. What an authorizer is asked.
struct AuthorizationRequest {
  std::string agent_id{};
  std::string agent_name{};
  std::string model{};
  std::uint64_t history_len = 0;
  std::string tool_call_id{};
  std::string tool_name{};
  Preview preview{};

  bool operator==(const AuthorizationRequest&) const = default;
};

json::object to_json(const AuthorizationRequest& request);
// Both readers: `InvalidInput` names the member that is missing, has a wrong type or an unknown
// word.
Result<AuthorizationRequest> authorization_request_from_json(const json::value& value,
                                                             std::string where = "request");

// A value. What an authorizer decides. `Prompt` asks a person.
struct Authorization {
  enum class Kind { Allow, Prompt, Deny };

  Kind outcome = Kind::Allow;
  std::optional<std::string> reason{};

  bool operator==(const Authorization&) const = default;
};

json::object to_json(const Authorization& authorization);
Result<Authorization> authorization_from_json(const json::value& value,
                                              std::string where = "authorization");

}  // namespace sallyport
