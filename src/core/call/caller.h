// The caller of a call, as the Governor sees it.
#pragma once

#include <memory>
#include <stop_token>

#include "core/approval/attendant.h"
#include "core/result/delivery.h"

namespace sallyport::core {

// Says whether the caller waits for the answer, and what it receives meanwhile.
struct Caller {
  std::stop_token cancel{};
  bool holds = true;  // waits while a person is asked; else `resume` continues the call
  // Asks like a caller that holds, then leaves. The question stays, and an identical call attaches
  // to it (AP-36). The call itself continues by `resume` or ends with its question.
  bool leaves = false;
  Delivery::Forward progress{};            // gets messages that passed the second door
  std::shared_ptr<Attendant> attendant{};  // null: only the caller learns that a person is asked
};

}  // namespace sallyport::core
