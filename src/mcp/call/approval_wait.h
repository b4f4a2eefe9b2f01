// Calls that wait for a person. The client waits for a while. If its user is a registered reviewer,
// the client itself is asked. If the wait takes too long, the client is told to make the call again
// (AP-31, AP-34..AP-37).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mcp/call/call_tasks.h"
#include "mcp/gateway_context.h"
#include "mcp/message/sealed_state.h"
#include "sallyport/approval.h"

namespace sallyport::mcp {

using Grants = std::vector<std::string>;  // tokens of the call, or the token of the front

// Owned by a gateway and used on its strand.
class ApprovalWait {
 public:
  ApprovalWait(const GatewayContext& context, const AnswerBridge& bridge, CallTasks& tasks)
      : context_(context), bridge_(bridge), tasks_(tasks) {}

  // Serves the client of a call while a person is asked about it.
  Async<void> attend(CallDesk::Held call);
  // The approval request of the call has ended.
  void end(HeldCall& call);
  // The call ended while its client was away. The client gets a refusal when it returns. A result
  // belongs to the identical call that ran, so it is not stored here.
  void end_away(const CallDesk::Held& call, bool refused);

  // The call that the client was told to make again with this request; null: there is none.
  CallDesk::Held awaited(const Message& request, const Grants& grants) const;
  void on_retry(const CallDesk::Held& call, const Message& request);
  // Takes the answer to our form from the request. The client's request stays open meanwhile.
  Async<void> take_answer(Message request, SealedState state);

 private:
  // The form for the user of the client, and the reviewer that this user is.
  struct Form {
    std::string approval_id{};
    std::string reviewer{};
    std::string binding{};
    WallTime deadline{};
    json::object params{};
  };

  // The registered reviewer who uses this client; empty: none.
  std::string reviewer_here() const;
  std::optional<Form> form_for(const HeldCall& call) const;
  bool is_decided(const std::string& approval_id) const;
  Async<void> hold(CallDesk::Held call);
  void notify_waiting(HeldCall& call);
  void detach(const CallDesk::Held& call, const std::string& result);
  void reattach(const CallDesk::Held& call, const Message& request);
  Async<void> answer_for_user(Form form, Reply reply);
  Async<void> ask_in_session(CallDesk::Held call, Form form);
  void ask_stateless(const CallDesk::Held& call, const Form& form);
  void take_form_back(HeldCall& call);

  const GatewayContext& context_;
  const AnswerBridge& bridge_;
  CallTasks& tasks_;
};

}  // namespace sallyport::mcp
