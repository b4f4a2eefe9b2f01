#include <boost/json.hpp>

#include "base/try.h"
#include "embed/engine_body.h"
#include "guardrails/stream/message_gate.h"

namespace sallyport {

using guardrails::Channel;
using guardrails::Stage;

namespace {

Stage stage_of(GuardrailStage stage) {
  switch (stage) {
    case GuardrailStage::Input:
      return Stage::Input;
    case GuardrailStage::Output:
      return Stage::Output;
    case GuardrailStage::ToolOutput:
      break;
  }
  return Stage::ToolOutput;
}

Channel channel_of(MessageChannel channel) {
  return channel == MessageChannel::Text ? Channel::Text : Channel::Reasoning;
}

}  // namespace

struct GuardrailGate::Body {
  std::unique_ptr<guardrails::TextGate> gate;
  embed::GateRecords records;
};

GuardrailGate::GuardrailGate(std::unique_ptr<Body> body) : body_(std::move(body)) {}
GuardrailGate::~GuardrailGate() = default;

Result<GateOutput> GuardrailGate::push(std::string_view delta) {
  SALLYPORT_TRY(const guardrails::Passed passed, body_->gate->push(delta));
  SALLYPORT_TRY(GateOutput out, body_->records.take(passed));
  if (out.blocked) {
    SALLYPORT_CHECK_OK(body_->records.finish(body_->gate->bytes_in(), body_->gate->coverage()));
  }
  return out;
}

Result<GateOutput> GuardrailGate::finish() {
  SALLYPORT_TRY(const guardrails::Passed passed, body_->gate->finish());
  SALLYPORT_TRY(GateOutput out, body_->records.take(passed));
  SALLYPORT_CHECK_OK(body_->records.finish(body_->gate->bytes_in(), body_->gate->coverage()));
  return out;
}

std::uint64_t GuardrailGate::held() const {
  return body_->gate->held();
}

struct MessageGate::Body {
  Body(const embed::GateRecords::Parts& parts, const Subject& subject)
      : gate(parts.guardrails),
        text(parts, {.channel = "text"}, subject),
        reasoning(parts, {.channel = "reasoning"}, subject),
        calls(parts, {.stage = Stage::ToolUse, .channel = "tool_call"}, subject) {}

  embed::GateRecords& records(MessageChannel channel) {
    return channel == MessageChannel::Text ? text : reasoning;
  }
  Result<GateOutput> take(MessageChannel channel, Result<guardrails::Passed> passed, bool ends) {
    if (!passed) return std::unexpected(passed.error());
    SALLYPORT_TRY(GateOutput out, records(channel).take(*passed));
    if (!ends && !out.blocked) return out;
    const Channel which = channel_of(channel);
    SALLYPORT_CHECK_OK(records(channel).finish(gate.bytes_in(which), gate.coverage(which)));
    return out;
  }

  guardrails::MessageGate gate;
  embed::GateRecords text;
  embed::GateRecords reasoning;
  embed::GateRecords calls;
};

MessageGate::MessageGate(std::unique_ptr<Body> body) : body_(std::move(body)) {}
MessageGate::~MessageGate() = default;

Result<GateOutput> MessageGate::push(MessageChannel channel, std::string_view delta) {
  return body_->take(channel, body_->gate.push(channel_of(channel), delta), false);
}

Result<GateOutput> MessageGate::finish(MessageChannel channel) {
  return body_->take(channel, body_->gate.finish(channel_of(channel)), true);
}

Result<void> MessageGate::open_call(const std::string& id, std::string_view tool) {
  return body_->gate.open_call(id, tool);
}

Result<std::string> MessageGate::push_arguments(const std::string& id, std::string_view delta) {
  return body_->gate.push_arguments(id, delta);
}

Result<GatedCall> MessageGate::close_call(const std::string& id) {
  SALLYPORT_TRY(guardrails::CallDecision decided, body_->gate.close_call(id));
  GatedCall call{.arguments = std::move(decided.arguments)};
  if (decided.seen.decision) call.reason = decided.seen.decision->reason.value_or("");
  SALLYPORT_TRY(call.hits, body_->calls.take(decided.seen));
  return call;
}

Result<bool> MessageGate::start_call(const std::string& id) {
  return body_->gate.start_call(id);
}

Result<std::unique_ptr<GuardrailGate>> Engine::arm(GuardrailStage stage, const std::string& tool,
                                                   Subject subject) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  if (!tool.empty() && stage != GuardrailStage::ToolOutput) {
    return fail(ErrorCode::InvalidInput, "only `ToolOutput` knows a tool, leave it out", "tool");
  }
  if (!body_->guardrails) return nullptr;
  std::optional<std::string_view> name;
  if (!tool.empty()) name = tool;
  std::unique_ptr<guardrails::TextGate> gate = body_->guardrails->arm(stage_of(stage), name);
  if (!gate) return nullptr;
  subject.policy_hash = body_->policy_hash;
  auto body = std::make_unique<GuardrailGate::Body>(
      std::move(gate),
      embed::GateRecords(body_->gate_parts(), {.stage = stage_of(stage), .tool = tool},
                         std::move(subject)));
  return std::unique_ptr<GuardrailGate>(new GuardrailGate(std::move(body)));
}

Result<std::unique_ptr<MessageGate>> Engine::arm_message(Subject subject) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  if (!body_->guardrails) return nullptr;
  subject.policy_hash = body_->policy_hash;
  auto body = std::make_unique<MessageGate::Body>(body_->gate_parts(), subject);
  return std::unique_ptr<MessageGate>(new MessageGate(std::move(body)));
}

}  // namespace sallyport
