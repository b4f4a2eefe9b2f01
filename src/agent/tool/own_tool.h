// One of our own tools: its input fits its schema before its body sees it, its failures are error
// results, and its refusals are told (RT-32).
#pragma once

#include <string_view>

#include "agent/tool/tool_context.h"

namespace sallyport::agent {

// On the executor of the toolbox.
class OwnTool : public core::Upstream {
 public:
  OwnTool(SharedContext context, OfferedTool offered);

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) final;
  ToolResult result_of(const Envelope& released) const final;
  std::string working_directory() const final;

 protected:
  // An error is what the model is told; a refusal (`is_refusal`) is an event as well.
  virtual Task<Envelope> answer(Call call, std::stop_token cancel) = 0;

  const SharedContext& context() const { return context_; }

 private:
  const SharedContext context_;
  const OfferedTool offered_;
};

// `InvalidInput` unless the input is an object that fits the schema of the tool.
Result<json::object> checked_input(const OfferedTool& tool, const json::value& input);

// The word that events have for a refusal by this tool. No value: they have none.
std::optional<event::DeniedAction> denied_action(std::string_view tool);

// What a refusal names: the path or the folder as it was given, within bounds.
std::string refused_detail(const json::object& input);

}  // namespace sallyport::agent
