#include "autonomy/policy_scope.h"

#include <boost/json.hpp>

#include "autonomy/policy_rules.h"
#include "base/wildcard.h"

namespace sallyport::autonomy {

namespace {

bool takes(const std::string& pattern, const std::string& text) {
  return pattern.empty() || fits_wildcard(pattern, text);
}

}  // namespace

bool PolicyScope::covers(const Call& call) const {
  return takes(agent, call.agent_id) && takes(agent_name, call.agent_name) &&
         takes(session, call.session_id) && takes(server, call.server) &&
         takes(front, call.setting.front);
}

json::object to_json(const PolicyScope& scope) {
  json::object covered;
  for (const auto& [name, pattern] :
       {std::pair("agent", scope.agent), std::pair("agent_name", scope.agent_name),
        std::pair("session", scope.session), std::pair("server", scope.server),
        std::pair("front", scope.front)}) {
    if (!pattern.empty()) covered[name] = pattern;
  }
  return {{"for", std::move(covered)}, {"autonomy", to_json(scope.policy)}};
}

}  // namespace sallyport::autonomy
