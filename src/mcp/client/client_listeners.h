// Notifications of changed lists and resources, between a server and a client of different eras.
#pragma once

#include <string>

#include "mcp/call/call_tasks.h"
#include "mcp/gateway_context.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class ClientListeners {
 public:
  ClientListeners(const GatewayContext& context, CallTasks& tasks)
      : context_(context), tasks_(tasks) {}

  // A stateless client subscribes to a stateful server, or to tasks of ours.
  void listen(const Message& request);
  // The client ends such a subscription. The last one for a resource also ends the server's.
  void unlisten(const std::string& client_id);

  // Takes a notification of the server. True: it was translated for the client, or is not for this
  // client. False: forward it unchanged.
  bool notify(const Message& notification);
  void notify_tools_changed();
  // A server that was started again may have other lists than before.
  void notify_of_return();

 private:
  void notify_listeners(const Message& notification);
  void notify_changed(std::string_view method);
  void notify_stateless_log(const Message& notification);
  bool notify_subscription(const Message& notification);
  void acknowledge(const Message& notification, const std::string& client_id);

  const GatewayContext& context_;
  CallTasks& tasks_;
};

}  // namespace sallyport::mcp
