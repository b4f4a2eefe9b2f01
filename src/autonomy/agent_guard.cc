#include "autonomy/agent_guard.h"

#include <fmt/format.h>

namespace sallyport::autonomy {

AgentGuard::AgentGuard(std::string agent) : agent_(std::move(agent)) {
  traits_.name = "agent";
  traits_.stage = core::Stage::Autonomy;
  traits_.settings = json::value(agent_);
}

Task<Verdict> AgentGuard::judge(const Call& call, const core::GuardContext&) const {
  if (call.agent_id == agent_) co_return Verdict::allow();
  co_return Verdict::deny(
      fmt::format("the policy is for agent `{:.60}`, but `{:.60}` is the one who acts", agent_,
                  call.agent_id),
      "agent_id");
}

}  // namespace sallyport::autonomy
