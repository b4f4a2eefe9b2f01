// Questions of a stateless server in the result of a call. The client gets the questions and sends
// the answers with another request. The state that the server wants back is sealed meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mcp/call/approval_wait.h"
#include "mcp/gateway_context.h"
#include "mcp/message/sealed_state.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class HandedQuestions {
 public:
  explicit HandedQuestions(const GatewayContext& context) : context_(context) {}

  // Returns the response to a call with its questions for the client: each is governed and
  // recorded, forms name the server, and the server's state is sealed. Returns an error response if
  // the questions are denied or cannot be answered.
  Async<std::string> hand_over(std::string response, CallDesk::Held call);

  // True if a stateless client sends answers to questions of a stateless server.
  bool has_answers(const Message& request) const;
  // Returns the request with its answers as the second door released them. They are recorded.
  Task<Message> with_answers(Message request);

  // True if the request has a state that looks like one that we sealed.
  bool has_sealed_state(const Message& request) const;
  // `InvalidInput`: the state is not for this request.
  Result<SealedState> state_of(const Message& request, const Grants& grants) const;
  // True if it has a state that was not issued here.
  bool has_foreign_state(const Message& request) const;
  // The request with the state that the server gave. The sealed one is used up.
  Task<Message> with_own_state(Message request, SealedState state);

 private:
  std::string sealed(std::string response, const HeldCall& call) const;
  Async<std::optional<std::string>> govern(std::string_view key, std::string_view question);

  const GatewayContext& context_;
};

}  // namespace sallyport::mcp
