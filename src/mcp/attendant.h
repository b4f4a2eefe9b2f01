// Tells the gateway that a call of its client waits for a person.
#pragma once

#include <memory>
#include <utility>

#include "core/approval/attendant.h"
#include "mcp/gateway.h"

namespace sallyport::mcp {

class Gateway::Attendant final : public core::Attendant {
 public:
  Attendant(Gateway& gateway, std::shared_ptr<Governed> governed)
      : gateway_(gateway), governed_(std::move(governed)) {}

  void asked(const core::WaitingCall& call) override;
  void answered() override;
  bool away() const override;

 private:
  Gateway& gateway_;
  std::shared_ptr<Governed> governed_;  // shared with the gateway's maps
};

}  // namespace sallyport::mcp
