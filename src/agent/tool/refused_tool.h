// Replaces a tool when its call must not run, because of the input or a limit. The call is denied
// and recorded like any other (RT-22, RT-72).
#pragma once

#include <string>

#include "core/call/upstream.h"

namespace sallyport::agent {

class RefusedTool final : public core::Upstream {
 public:
  explicit RefusedTool(std::string why) : why_(std::move(why)) {}

  Task<Envelope> invoke(Call, std::shared_ptr<core::Delivery>, std::stop_token) override {
    co_return fail(ErrorCode::InvalidInput, why_);
  }
  Result<json::value> structured_input(const Call&) const override {
    return fail(ErrorCode::InvalidInput, why_);
  }

 private:
  std::string why_;
};

}  // namespace sallyport::agent
