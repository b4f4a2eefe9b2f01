// Base of our own tools. It checks the input against the schema, turns failures into error results,
// and reports refusals as events (RT-32).
#pragma once

#include <string_view>

#include "agent/tool/tool_context.h"

namespace sallyport::agent {

// Use it on the executor of the toolbox.
class OwnTool : public core::Upstream {
 public:
  OwnTool(SharedContext context, OfferedTool offered);

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) final;
  ToolResult result_of(const Envelope& released) const final;
  std::string working_directory() const final;

 protected:
  // The model receives the error. A refusal (`is_refusal`) is also reported as an event.
  virtual Task<Envelope> answer(Call call, std::stop_token cancel) = 0;

  const SharedContext& context() const { return context_; }

 private:
  const SharedContext context_;
  const OfferedTool offered_;
};

// `InvalidInput` unless the input is an object that fits the schema of the tool. Counts in the
// result are integers.
Result<json::object> checked_input(const OfferedTool& tool, const json::value& input);

// The action that events name for a refusal by this tool. No value: events have none.
std::optional<event::DeniedAction> denied_action(std::string_view tool);

// The path or folder that a refusal names, as it was given, cut to a limit.
std::string refused_detail(const json::object& input);

}  // namespace sallyport::agent
