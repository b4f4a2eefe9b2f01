// Changed lists and resources, from servers that simply tell to clients that want to be asked, and
// the other way round.
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

  // A stateless client listens to a server of sessions, or to tasks of ours.
  void listen(const Message& request);
  // The client ends such a subscription. The last one that listened to a resource ends the server's.
  void unlisten(const std::string& client_id);

  // A notification of the server. True: it was passed on in the words of the client's era, or is
  // nothing for this client. False: it is to be passed on as it is.
  bool tell(const Message& notification);
  void tell_tools_changed();
  // A server that was started again may have other lists than before.
  void tell_of_return();

 private:
  void tell_listeners(const Message& notification);
  void tell_changed(std::string_view method);
  void tell_stateless_log(const Message& notification);
  bool tell_subscription(const Message& notification);
  void acknowledge(const Message& notification, const std::string& client_id);

  const GatewayContext& context_;
  CallTasks& tasks_;
};

}  // namespace sallyport::mcp
