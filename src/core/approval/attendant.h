// An attendant is a front whose client waits while a person is asked about its call.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/classification.h"

namespace sallyport::core {

struct WaitingCall {
  std::string approval_id{};
  std::string call_id{};
  Autonomy tier = Autonomy::ActWithApproval;
  bool needs_human = false;  // no dialog of a client may answer (AT-17)
  std::string url{};         // where people find the question; empty: nowhere
  std::string rule{};        // of the policy that asks; empty: the tier does
  std::string message{};     // of that rule
  std::string text{};        // what the agent is told of it
};

// The door of answers that came through a client, and so through software near the agent.
inline constexpr std::string_view kClientDoor = "mcp:elicitation";

// Called on the strand of the call.
class Attendant {
 public:
  virtual ~Attendant() = default;
  // The question is on record. Where the answer leads to another one, both are called again.
  virtual void asked(const WaitingCall& call) = 0;
  virtual void answered() = 0;
  // True: no client would take the result now. Then a yes is not used; it stays valid for a client
  // that returns in time. Ring the approval when this changes.
  virtual bool away() const = 0;
};

}  // namespace sallyport::core
