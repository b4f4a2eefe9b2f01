// Calls whose server asks a question that a stateless client must answer. The client gets the
// questions as the answer to its request and repeats the request with the answers. The call waits
// here meanwhile.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "mcp/call/approval_wait.h"
#include "mcp/gateway_context.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class ParkedCalls {
 public:
  explicit ParkedCalls(const GatewayContext& context) : context_(context) {}

  // The newest call whose client could answer this; null: there is none.
  CallDesk::Held to_ask(std::string_view method, std::string_view params) const;
  // Parks that call, and returns what its client answered.
  Task<Message> park(std::string method, std::string params, std::stop_token cancel);
  // True if a request continues a parked call, or claims to.
  bool is_about_parked(const Message& request) const;
  void go_on(const Message& request, const Grants& grants);
  void stop();  // the gateway ends: the calls no longer wait for their clients

 private:
  void send_questions(const CallDesk::Held& call);
  void take_answers(HeldCall& call, const Message& request);
  Async<void> forget(std::string state);

  const GatewayContext& context_;
  bool stopping_ = false;
};

}  // namespace sallyport::mcp
