// What the host of an agent ran: there is nothing to invoke any more, the result has been seen.
#pragma once

#include "core/upstream.h"
#include "hook/event.h"

namespace sallyport::hook {

Envelope envelope_of(const Event& event);
ToolResult result_of(const Event& event);

class Observed final : public core::Upstream {
 public:
  explicit Observed(Event event) : event_(std::move(event)) {}
  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override;
  bool shows_release() const override { return event_.replaceable; }

 private:
  Event event_;
};

}  // namespace sallyport::hook
