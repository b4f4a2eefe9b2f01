#include "app/gateway_plan.h"

namespace sallyport::app {

policy::PolicyLoader::Extend what_the_gateway_brings(const mcp::PinBook& pins) {
  return [&pins](core::PlanBuilder& plan) {
    const Classification lookup{.tier = Tier::Observe, .effect_class = "none"};
    for (const char* const method :
         {"resources/read", "prompts/get", "completion/complete", "tasks/result", "tasks/get"}) {
      plan.brings_tool("", method, lookup);
    }
    plan.brings_guard(std::make_shared<mcp::PinGuard>(pins));
  };
}

}  // namespace sallyport::app
