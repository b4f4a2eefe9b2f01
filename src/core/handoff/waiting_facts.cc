#include "core/handoff/waiting_facts.h"

namespace sallyport::core {

Fact held_call(const std::string& call_id, const std::string& approval_id,
               const std::string& holder) {
  return {std::string(kHeldCall), call_id, approval_id + " " + holder, true};
}

bool held(const Instances& instances, const std::string& holder) {
  return holder != kNobody && instances.alive(holder);
}

}  // namespace sallyport::core
