#include "hook/observed.h"

#include <algorithm>

#include "base/exact_numbers.h"
#include "hook/members.h"

namespace sallyport::hook {

Envelope envelope_of(const Event& event) {
  if (!event.failed) return Envelope::of(event.output);
  Envelope envelope = Envelope::error(as_text(event.output));
  if (!event.output.is_string()) envelope.data = event.output;
  return envelope;
}

ToolResult result_of(const Event& event) {
  ToolResult result{
      .success = !event.failed, .output = as_text(event.output), .duration_ms = event.duration_ms};
  if (!event.output.is_string()) result.data = event.output;
  return result;
}

bool has_input_of(const Continuation& handed_out, const Event& event) {
  const auto text_of = [](const json::value& value) {
    std::string text;
    append_exact_json(text, value);
    return text;
  };
  const std::string text = text_of(event.input);
  return std::ranges::any_of(
      handed_out.payload.pending_tool_calls, [&](const PendingCall& pending) {
        return text_of(pending.input) == text || text_of(pending.effective_input) == text;
      });
}

Task<Envelope> Observed::invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) {
  co_return envelope_of(event_);
}

}  // namespace sallyport::hook
