// Tasks of the stateless era. A client that declared them gets one for a call that waits for a
// person, and the result or the refusal through it. A client that names the task in a subscription
// is notified of every change (AP-46).
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "mcp/gateway_context.h"
#include "mcp/message/answer_bridge.h"

namespace sallyport::mcp {

// True if the client declared support for tasks.
bool declares_tasks(const json::object& capabilities);
// The answer to `server/discover` with our support for tasks added.
std::string offering_tasks(std::string discovery);
// True if this `subscriptions/listen` names only tasks of a gateway.
bool wants_our_tasks_alone(const Message& request);

// Owned by a gateway and used on its strand.
class CallTasks {
 public:
  CallTasks(const GatewayContext& context, const AnswerBridge& bridge)
      : context_(context), bridge_(bridge) {}

  // Creates a task, which is durable before the client gets its id. False: no task was created, and
  // the client waits.
  Async<bool> give(CallDesk::Held call);
  // Notifies subscriptions to the task that the call has changed.
  void notify(HeldCall& call);

  // True if the request is about a task of ours.
  bool is_ours(const Message& request) const;
  void answer(const Message& request);
  // True if only the opening of the server tells how the request is answered.
  bool needs_opening(const Message& request) const;
  // Returns the whole refusal of a request about tasks; empty: it is not refused. A client that did
  // not declare tasks does not learn whether a task exists.
  std::string refusal(const Message& request) const;

  // Notes our tasks that a subscription names. Returns those that exist.
  json::array listen(const Message& request);
  // Notifies a client that subscribes after the end of a task.
  void notify_ended(const std::string& listener);
  // `subscriptions/listen` for the server: without our tasks and without tasks of other agents.
  std::string for_server(const std::string& listen) const;

 private:
  std::chrono::milliseconds lifetime() const;
  json::object to_json(const HeldCall& call) const;
  std::string whole(const HeldCall& call) const;
  void send(const std::string& listener, const HeldCall& call);
  std::optional<json::object> lost(const std::string& id) const;

  const GatewayContext& context_;
  const AnswerBridge& bridge_;
};

}  // namespace sallyport::mcp
