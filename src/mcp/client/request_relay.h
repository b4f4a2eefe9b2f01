// Forwards requests of the client that are not calls to the server, and returns the answers.
#pragma once

#include <optional>
#include <string>

#include "mcp/client/client_listeners.h"
#include "mcp/gateway_context.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class RequestRelay {
 public:
  RequestRelay(const GatewayContext& context, const AnswerBridge& bridge, CallTasks& tasks,
               ClientListeners& listeners)
      : context_(context), bridge_(bridge), tasks_(tasks), listeners_(listeners) {}

  // Forwards the request once the server is ready.
  void pass(Message request);
  // Reads the whole tool list before it forwards a request for a later page, so that names on two
  // pages are found.
  Async<void> list_then_pass(Message request);
  // The client does not want the answer. `reason` is JSON text.
  void cancel(const std::string& client_id, std::string_view reason);

  // True if it is answered here, because the server's era has no such request.
  bool is_answered_here(const Message& request) const;
  void answer_here(const Message& request);

  // Counts the memory of a waiting request. No value: no room, and it was refused.
  std::optional<net::Quota::Share> room_for(const Message& request);

 private:
  class Waiting;
  class Subscribed;

  Async<void> pass_later(Message request, net::Quota::Share held);
  Result<std::uint64_t> subscribe(const Message& request);
  Async<void> unsubscribed(Message request, Response reply);
  Async<void> subscribe_again(Message request, std::uint64_t before);
  Async<void> answered(std::string client_id, std::string method, Response reply);
  Task<Message> shown(const std::string& method, Message answer);

  const GatewayContext& context_;
  const AnswerBridge& bridge_;
  CallTasks& tasks_;
  ClientListeners& listeners_;
};

}  // namespace sallyport::mcp
