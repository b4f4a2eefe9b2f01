// Proposed calls of this agent and server, which run here once a person has said yes (AP-22).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "core/call/waiting_facts.h"
#include "mcp/gateway.h"

namespace sallyport::mcp {

Async<void> Gateway::run_proposals() {
  const std::stop_token cancel = proposals_.get_token();
  bool complained = false;
  while (!cancel.stop_requested()) {
    co_await bell_.wait("proposals", settings_.limits.proposals, cancel);
    if (!cancel.stop_requested()) tell_of_accepted();
    const auto proposed = parts_.recorder.facts(core::kProposedCall);
    if (!ready_ || cancel.stop_requested() || !proposed || proposed->empty()) continue;
    if (!tools_known_) co_await know_tools({});
    const auto answered = co_await parts_.governor.run_answered(
        [this](const Call& call) { return proposed_call(call); }, cancel);
    if (!answered && !std::exchange(complained, true)) {
      settings_.log("proposals cannot be run: " + answered.error().message);
    }
  }
}

// Null: it is another gateway's.
std::shared_ptr<ForwardedCall> Gateway::proposed_call(const Call& call) {
  if (call.server != settings_.name || call.agent_id != settings_.agent_id) return nullptr;
  std::string params =
      fmt::format(R"({{"name":{},"arguments":{}}})", json::serialize(json::string(call.tool)),
                  call.raw_input.value_or(json::serialize(call.input)));
  Result<Message> request =
      Message::read(request_text("0", "tools/call", params), settings_.limits.json());
  Result<Asked> asked =
      request ? read_asked(*request) : Result<Asked>(std::unexpected(request.error()));
  if (!asked) return nullptr;
  ForwardedCall::Means means = means_for("tools/call");
  means.to_server = [this](std::string own) { return own_params(std::move(own)); };
  means.asks_client = {};  // the agent has no part in it
  return std::make_shared<ForwardedCall>(
      std::move(means), std::move(*request), std::move(*asked),
      std::make_shared<Inbox>(executor_, settings_.limits.progress));
}

}  // namespace sallyport::mcp
