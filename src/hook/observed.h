// What the host of an agent ran: there is nothing to invoke any more, the result has been seen.
#pragma once

#include "core/call/upstream.h"
#include "hook/event.h"

namespace sallyport::hook {

Envelope envelope_of(const Event& event);
ToolResult result_of(const Event& event);

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
