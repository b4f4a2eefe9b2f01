#include "hook/observed.h"

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

Task<Envelope> Observed::invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) {
  co_return envelope_of(event_);
}

}  // namespace sallyport::hook
