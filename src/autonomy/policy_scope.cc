#include "autonomy/policy_scope.h"

#include <boost/json.hpp>

#include "autonomy/policy_rules.h"

namespace sallyport::autonomy {

namespace {

// Linear in the text for each part of the pattern: a part is taken where it first occurs.
bool fits(std::string_view pattern, std::string_view text) {
  const std::size_t first = pattern.find('*');
  if (first == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, first))) return false;
  text.remove_prefix(first);
  pattern.remove_prefix(first + 1);
  while (true) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return text.ends_with(pattern);
    const std::size_t at = text.find(pattern.substr(0, star));
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + star);
    pattern.remove_prefix(star + 1);
  }
}

bool takes(const std::string& pattern, const std::string& text) {
  return pattern.empty() || fits(pattern, text);
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
