// A gateway connects a client to one tool server. It forwards messages unchanged, except where the
// policy changes them or the two sides are of different eras. Every call is governed.
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
// message where it goes. Used on a context with one thread. Abandoned calls may end after `run` and
// keep a shared gateway alive. A gateway that is not shared is destroyed only when its context has
// no work left.
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
  // The handling of a request of the client.
  enum class Route {
    Pong,          // answered at once
    HasAnswers,    // with answers for a stateless server; routed again once released
    Open,          // `initialize`
    AfterOpening,  // about tasks of a server that has not opened; routed again then
    RefusedTask,   // about tasks, which one side does not support
    OwnTask,       // about a task of ours
    Here,          // answered here: the server's era has no such request
    SealedState,   // a call that continues with a state that we issued
    Parked,        // a call that continues with answers to questions of the server
    ForeignState,  // a call with a state that was not issued here
    Call,          // a new call, or one that the client makes again on our request
    ForeignTask,   // about a task of another agent
    ListFirst,     // a later page of the tool list, which was not read yet
    Pass,          // forwarded
  };

  // From the client (gateway_routes.cc).
  void on_message(Message message);
  void on_request(Message request);
  std::string refusal(const Message& request);
  bool has_usable_meta(const Message& request);
  Route route_of(const Message& request) const;
  Route route_of_call(const Message& request) const;
  void send_along(Route route, Message request);
  void begin_call(Message request, Grants grants);
  void go_on_with_state(Message request, const Grants& grants);
  Async<void> go_on_with_server_state(Message request, Grants grants, SealedState state);
  Async<void> route_after_opening(Message request, net::Quota::Share held);
  Async<void> pass_answers(Message request);
  Async<void> open(Message request, net::Quota::Share held);
  void on_notification(const Message& notification);
  void cancel(const Message& notification);

  // The server.
  Async<void> on_server_request(Message request) override;
  Async<void> on_server_notification(Message notification) override;
  Async<void> on_server_progress(Message notification);
  void server_returned() override { listeners_.notify_of_return(); }
  void server_ended() override { questions_.stop_those_of_server(); }
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
  bool hurries_ = false;  // does not wait for open requests
};

}  // namespace sallyport::mcp
