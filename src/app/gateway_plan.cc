#include "app/gateway_plan.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "guards/form_guard.h"
#include "machine/environment.h"

namespace sallyport::app {

policy::PolicyLoader::Extend gateway_plan_extension(const mcp::PinBook& pins) {
  return [&pins](core::PlanBuilder& plan) {
    const Classification lookup{.tier = Tier::Observe, .effect_class = "none"};
    for (const char* const method :
         {"resources/read", "prompts/get", "completion/complete", "tasks/result", "tasks/get",
          // Asked by servers.
          "sampling/createMessage", "elicitation/create", "roots/list", "tasks/list",
          "tasks/cancel"}) {
      plan.extension_tool("", method, lookup);
    }
    plan.extension_guard(std::make_shared<mcp::PinGuard>(pins));
    plan.extension_guard(std::make_shared<guards::FormGuard>());
  };
}

std::optional<std::string> agent_of_policy(const core::Plan& plan) {
  if (!plan.autonomy_rules()) return std::nullopt;
  const json::object rules = plan.autonomy_rules()->dump();
  const std::optional<std::string_view> agent = text_in(rules, "agent_id");
  return agent ? std::optional<std::string>(*agent) : std::nullopt;
}

std::string acting_agent(const core::Plan& plan) {
  const std::optional<std::string> agent = agent_of_policy(plan);
  return agent ? *agent : running_user();
}

}  // namespace sallyport::app
