// Runs the calls of a client. Each call is governed and gets one answer.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "mcp/call/approval_wait.h"
#include "mcp/call/handed_questions.h"
#include "mcp/gateway_context.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class GovernedCalls {
 public:
  struct Parts {
    const GatewayContext& context;
    const AnswerBridge& bridge;
    CallClient& client;  // asked by stateless servers
    CallTasks& tasks;
    ApprovalWait& approvals;
    HandedQuestions& questions;
  };
  explicit GovernedCalls(Parts parts) : parts_(parts), context_(parts.context) {}

  // The tokens of a request, taken out of it so that no server sees them.
  Grants take_grants(Message& request) const;
  // Queues the call; it runs when there is a place. `held` is the memory of the request.
  void begin(Message request, Grants grants, net::Quota::Share held);
  // Gives a progress message of the server to its call. False: it belongs to no call.
  bool on_progress(Message& notification);

  // Runs the proposals that are answered by now (AP-22). An error: they cannot be read.
  Task<void> run_answered(std::stop_token cancel);

 private:
  class Attendant;
  class Place;

  Result<CallDesk::Held> held_call(Message request, CallParams call_params, Grants grants,
                                   net::Quota::Share held);
  void start_queued();
  void leave_place(HeldCall& call);
  Async<void> run(CallDesk::Held call);
  Async<std::string> released(CallDesk::Held call, const Result<Answer>& answer);
  bool refuse_headers(const CallDesk::Held& call);
  std::string response_to(const HeldCall& call, const Result<Answer>& answer);
  std::string unrecorded_to(const HeldCall& call, const Error& error) const;
  std::string notice_to(const HeldCall& call, const Answer& answer) const;
  void forward_progress(HeldCall& call, const json::value& released);
  void count(const HeldCall& call, SteadyTime begin, const Result<Answer>& answer) const;
  std::shared_ptr<ForwardedCall> proposed(const Call& call);

  Parts parts_;
  const GatewayContext& context_;
};

}  // namespace sallyport::mcp
