// A gateway stands between a client and its tool server. Messages pass unchanged, except what the
// policy touches and what one side cannot express in the other's era. Every call is governed.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "mcp/call/approval_wait.h"
#include "mcp/call/call_tasks.h"
#include "mcp/call/governed_calls.h"
#include "mcp/call/handed_questions.h"
#include "mcp/call/parked_calls.h"
#include "mcp/client/client_listeners.h"
#include "mcp/client/conversation.h"
#include "mcp/client/request_relay.h"
#include "mcp/gateway_context.h"
#include "mcp/message/answer_bridge.h"
#include "mcp/server/server_questions.h"

namespace sallyport::mcp {

// Wires a `ClientSession`, a `ServerSession` and a `CallDesk` together, and decides once for each
// message where it goes. Used on a context with one thread. Abandoned calls may end after `run`:
// they keep a shared gateway alive. The context of a gateway that is not shared must run dry before
// it is destroyed.
class Gateway final : public Conversation,
                      public std::enable_shared_from_this<Gateway>,
                      private ServerListener {
 public:
  using Parts = GatewayParts;
  using Settings = GatewaySettings;
  Gateway(boost::asio::any_io_executor executor, Parts parts, Settings settings,
          std::unique_ptr<ClientLink> client);

  // Runs until the client leaves, or the server cannot be started. All calls have ended then.
  Task<void> run() override;
  void stop() override;
  bool holds_calls() const override { return desk_.holds_calls(); }
  bool quiet() const override { return tasks_.size() == 0; }

 private:
  // Where a request of the client goes.
  enum class Route {
    Pong,           // answered at once
    BringsAnswers,  // to questions of a stateless server; routed again once they have passed
    Open,           // `initialize`
    RefusedTask,    // about tasks, which the client did not declare or the server has not
    OwnTask,        // about a task of ours
    Here,           // answered without the server, whose era has no such request
    SealedState,    // a call that continues with a state that we issued
    Parked,         // a call that continues with answers to questions of the server
    ForeignState,   // a call with a state that was not issued here
    Call,           // a new call, or one that the client was told to make again
    ForeignTask,    // about a task of another agent
    ListFirst,      // a later page of the list of tools, which is not known yet
    Pass,           // forwarded
  };

  // From the client (gateway_routes.cc).
  void hear(Message message);
  void hear_request(Message request);
  std::string refusal(const Message& request);
  bool has_usable_meta(const Message& request);
  Route route_of(const Message& request) const;
  Route route_of_call(const Message& request) const;
  void send_along(Route route, Message request);
  void begin_call(Message request, Grants grants);
  void go_on_with_state(Message request, const Grants& grants);
  Async<void> go_on_with_server_state(Message request, Grants grants, SealedState state);
  Async<void> pass_answers(Message request);
  Async<void> open(Message request, net::Quota::Share held);
  void hear_notification(const Message& notification);
  void cancel(const Message& notification);

  // The server.
  Async<void> server_asks(Message request) override;
  Async<void> server_tells(Message notification) override;
  void server_returned() override { listeners_.tell_of_return(); }
  Async<void> keep_server();

  Async<void> watch();
  Async<void> end();

  Parts parts_;
  Settings settings_;
  std::weak_ptr<void> self_;
  net::TaskGroup tasks_;
  Bell bell_;
  MessageDoor door_;
  ClientSession client_;
  ServerSession server_;
  CallDesk desk_;
  TaskOwners owners_;
  GatewayContext context_;
  AnswerBridge bridge_;
  CallTasks call_tasks_;
  ClientListeners listeners_;
  ApprovalWait approvals_;
  ParkedCalls parked_;
  ServerQuestions questions_;
  HandedQuestions handed_;
  GovernedCalls calls_;
  RequestRelay relay_;
  std::stop_source watching_;
  std::optional<Error> gave_up_;
  bool stopping_ = false;
  bool hurries_ = false;  // the gateway waits for no server
};

}  // namespace sallyport::mcp
