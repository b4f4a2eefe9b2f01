// A call that the host of an agent has run. Nothing is invoked, and the result is known.
#pragma once

#include "core/call/upstream.h"
#include "hook/event.h"
#include "sallyport/continuation.h"

namespace sallyport::hook {

Envelope envelope_of(const Event& event);
ToolResult result_of(const Event& event);

// True if the call that was handed out has the input of this event: the one that the host proposed,
// or the one that the policy gave it.
bool has_input_of(const Continuation& handed_out, const Event& event);

class Observed final : public core::Upstream {
 public:
  Observed(Event event, core::Assertion assertion)
      : event_(std::move(event)), assertion_(std::move(assertion)) {}
  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override;
  bool shows_release() const override { return event_.replaceable; }
  std::optional<core::Assertion> assertion() const override { return assertion_; }

 private:
  Event event_;
  core::Assertion assertion_;
};

}  // namespace sallyport::hook
