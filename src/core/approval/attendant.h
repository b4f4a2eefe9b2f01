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
  std::string url{};         // the page of the question; empty: there is none
  std::string rule{};        // the policy rule that asks; empty: the tier asks
  std::string message{};     // of that rule
  std::string text{};        // the text for the agent
};

// Called on the strand of the call.
class Attendant {
 public:
  virtual ~Attendant() = default;
  // The question is recorded. If the answer leads to another question, both are called again.
  virtual void asked(const WaitingCall& call) = 0;
  virtual void answered() = 0;
  // True: no client can take the result now. An approval is then not used and stays valid for a
  // client that returns in time. Ring the approval when this changes.
  virtual bool away() const = 0;
};

}  // namespace sallyport::core
