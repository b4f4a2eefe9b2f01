#include "core/call/trail.h"

#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

void Trail::hold_here() {
  held = true;
  closing_facts.push_back({std::string(kHeldCall), call().call_id, std::nullopt});
}

}  // namespace sallyport::core
