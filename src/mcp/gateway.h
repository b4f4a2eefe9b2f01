// A gateway stands between a client and its tool server. Messages pass unchanged, except what the
// policy touches and what one side cannot express in the other's era. Every call is governed.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/bell.h"
#include "core/call/governor.h"
#include "mcp/bridge_log.h"
#include "mcp/client_link.h"
#include "mcp/conversation.h"
#include "mcp/forwarded_call.h"
#include "mcp/gateway_meter.h"
#include "mcp/message_log.h"
#include "mcp/pins.h"
#include "mcp/screen.h"
#include "mcp/sealed_state.h"
#include "mcp/server.h"
#include "mcp/task_owners.h"
#include "mcp/translation.h"
#include "net/quota.h"
#include "net/task_group.h"

namespace sallyport::mcp {

// True if the client declared support for tasks.
bool declares_tasks(const json::object& capabilities);
// The answer to `server/discover` with our support for tasks added.
std::string offering_tasks(std::string discovery);

// True if this `subscriptions/listen` names only tasks of a gateway.
bool wants_our_tasks_alone(const json::object& wanted);

// The task that a request is about; empty: it names none.
std::string task_named_by(const Message& request);

// Used on a context with one thread. Abandoned calls may end after `run`: they keep a shared
// gateway alive. The context of a gateway that is not shared must run dry before it is destroyed.
class Gateway final : public Conversation,
                      public std::enable_shared_from_this<Gateway>,
                      private Server::Listener {
 public:
  struct Parts {
    core::Governor& governor;
    const core::PlanSource& plans;
    core::Recorder& recorder;
    const core::Redactor& redactor;
    const Clock& clock;
    Entropy& entropy;
    PinBook& pins;
    GatewayMeter* meter = nullptr;  // null: nothing is counted
    net::Quota held{};  // memory of requests and answers, shared by all gateways with this quota
    // Called when the question about a call is recorded and has no answer yet. Must not block.
    std::function<void(const core::WaitingCall&)> waiting{};
  };
  struct Settings {
    std::string name;         // name of the server in records
    ServerMaker make_server;  // makes the server, of any kind
    std::string agent_id;     // the authenticated agent of the client
    std::string session_id;
    bool shared = false;  // several clients of that agent share it
    EraHint era{};        // of the server
    // all agents share the server, and it cannot tell them apart
    bool serves_others = false;
    std::string grant{};                 // token for calls without one; empty: they have none
    CallSetting setting{};               // of its calls
    std::vector<std::string> command{};  // starts the server; empty: it runs elsewhere
    Limits limits{};
    Server::Log log;  // for operators; must not block
  };
  Gateway(boost::asio::any_io_executor executor, Parts parts, Settings settings,
          std::unique_ptr<ClientLink> client);

  // Runs until the client leaves, or the server cannot be started. All calls have ended then.
  Task<void> run() override;
  void stop() override;
  bool holds_calls() const override;
  bool quiet() const override { return tasks_.size() == 0; }

 private:
  using Grants = std::vector<std::string>;  // tokens, as they came or as the front was given one
  // Waits for an answer of the client.
  class Told;
  // A call in flight, as the client knows it.
  struct Governed {
    std::string client_id;  // empty: the client was asked something and has not come back
    std::uint64_t number = 0;
    SteadyTime received{};
    Call call;
    std::shared_ptr<ForwardedCall> upstream;  // shared with a Governor that gave it up
    std::stop_source stop{};
    bool cancelled = false;      // the client does not want an answer
    json::object capabilities;   // that the client has for this request
    std::string client_token{};  // of progress, as it knows it now
    std::string state{};         // names the call while it is parked
    std::map<std::string, std::pair<std::shared_ptr<Told>, std::string>>
        open{};              // by key: question
    std::string response{};  // of a call that ended while it was parked
    // While a person is asked about it (gateway_approvals.cc).
    std::optional<core::WaitingCall> waits{};
    std::string approval_id{};  // of the last question
    std::string identity{};     // the same for an identical call
    bool away = false;          // the client was told to come back
    bool placed = true;         // one of those that run at once
    std::string form{};         // our question to the client, while it is open
    double progress = 0;        // that we told of
    std::optional<SteadyTime> ended_at{};
    std::string task_id{};    // of one that was given as a task
    std::string task_made{};  // RFC 3339
    std::string task_changed{};
    SteadyTime task_until{};  // kept at least so long
  };
  class Attendant;
  // What the user of the client is asked, and as whom.
  struct Form {
    std::string approval_id{};
    std::string reviewer{};
    std::string binding{};
    WallTime deadline{};
    json::object params{};
  };
  class Place;
  // A request that is only passed on.
  class Relayed;
  // A request of the server that is being governed.
  struct Asking {
    std::stop_source stop{};
    std::string why{};    // the server took it back: params of its notice, JSON text
    std::string about{};  // the client's request in whose course it is asked
  };
  // What a client of the stateless era wants to hear of.
  struct Listening {
    bool tools = false;
    bool prompts = false;
    bool resources = false;
    std::set<std::string> uris{};
  };

  // The client (gateway_client.cc).
  Async<void> hear_client(net::Line line);
  void hear_message(std::string text);
  void hear_batch(std::string_view text);
  void client_asks(Message request);
  void client_tells(const Message& notification);
  void client_answers(const Message& answer);
  void cancel(const Message& notification);
  void to_client(std::string text, std::string_view about = {});
  bool refuse_unknown(const Message& request);
  void note(MessageLog::What what, Side from, std::string_view method,
            const std::string& evidence = {});
  void note_trimmed(Side from, const Message& message, std::string_view method);
  bool passes(Side from, const Message& notification);
  bool is_call(std::string_view method) const;
  Async<void> end();

  // Requests that are passed on.
  void relay(Message request);
  Async<void> relay_later(Message request, net::Quota::Share held);
  Async<void> relay_answer(std::string client_id, std::string method, Reply reply);
  Task<std::string> passed(const std::string& method, Message answer);
  void note_request(const Message& request);
  std::optional<net::Quota::Share> room_for(const Message& request);

  // The two eras (gateway_opening.cc).
  void meet_client(const Message& request);
  bool refuse_by_era(const Message& request);
  bool take_log_level(const json::object& meta);
  Async<void> tell_log_level();
  bool answer_here(const Message& request);
  Async<void> open_session(Message request, net::Quota::Share held);
  Async<void> open_stateless();
  Async<void> open_late();
  Task<void> probe();
  Task<void> open_legacy(std::string params);
  std::string own_opening() const;
  void learn_era(Era era);
  void set_ready();
  std::string for_server(const Message& request) const;
  std::string params_for_server(std::string params) const;
  std::string own_params(std::string params) const;
  std::string result_for_client(std::string_view method, std::string_view result);
  std::string answer_for_client(std::string_view method, std::string text);
  ClientFacts client_facts() const;
  bool bridges(Era client, Era server) const {
    return client_era_ == client && server_era_ == server;
  }

  // What one side hears of the other's lists (gateway_listening.cc).
  void listen(const Message& request);
  void unlisten(const std::string& client_id);
  Async<void> subscribe(std::set<std::string> uris);
  Async<void> unsubscribe(std::set<std::string> uris);
  void listen_for_client();
  Async<void> relisten();
  void tell_listeners(const Message& notification);
  void tell_changed(std::string_view notification);
  void tell_of_return();
  void tell_of_accepted();
  bool lists(std::string_view feature) const;
  bool tell_across(const Message& notification);
  bool acknowledge(const Message& notification, const std::string& client_id);

  // Questions of a server during a call (gateway_questions.cc).
  Task<std::string> ask_client(std::string method, std::string params, std::string about);
  Async<void> answer_server(Message request, std::shared_ptr<Asking> asking);
  Async<std::string> ask_governed(Message request, std::shared_ptr<Asking> asking);
  Call question_call(const Asked& asked) const;
  Task<Message> put_question(std::string frame, std::string method, std::string params,
                             std::shared_ptr<Asking> asking, std::stop_token cancel);
  Task<Message> park(std::string method, std::string params, std::stop_token cancel);
  std::shared_ptr<Governed> call_to_ask(std::string_view method, std::string_view params) const;
  Async<std::string> hand_over(std::string response);
  Async<bool> hand_one_over(std::string_view key, std::string_view question);
  bool brings_answers(const Message& request) const;
  Async<void> pass_answers(Message request);
  void go_on_asking(Message request);
  bool unpark(Message& request, const Grants& grants);
  std::string with_sealed_state(std::string response, const Governed& governed);
  bool refuse_foreign_state(const Message& request);
  Async<void> go_on_with(Message request, Grants grants, SealedState state);
  void send_questions(Governed& governed);
  Async<void> forget_parked(std::string state);
  void decline(const Message& question);
  void degraded(std::string_view feature);
  bool may_be_asked(std::string_view method, std::string_view params,
                    const json::object& capabilities) const;
  std::optional<std::string> refused_questions(std::string_view response,
                                               const json::object& capabilities);

  // Calls that wait for a person (gateway_approvals.cc).
  Async<void> attend(std::shared_ptr<Governed> governed);
  std::optional<Form> form_for(const Governed& governed);
  bool is_decided(const std::string& approval_id);
  Async<void> hold(std::shared_ptr<Governed> governed);
  void tell_waiting(Governed& governed);
  void send_away(const std::shared_ptr<Governed>& governed, const std::string& result);
  void leave_place(Governed& governed);
  void welcome(const std::shared_ptr<Governed>& governed, const Message& request);
  bool come_back(const Message& request, const Grants& grants);
  void forget_refusals();
  void end_away(const std::shared_ptr<Governed>& governed, bool refused);
  Async<void> answer_for_user(Form form, sallyport::Reply reply);
  Async<void> ask_in_session(std::shared_ptr<Governed> governed, Form form);
  void take_form_back(Governed& governed);
  void ask_stateless(const std::shared_ptr<Governed>& governed, const Form& form);
  bool brings_answer(const Message& request, const Grants& grants);
  Async<void> take_answer(Message request, SealedState state);

  // Calls that wait as tasks (gateway_tasks.cc). They are offered if a person may be asked at all.
  std::string with_our_tasks(std::string discovery) const;
  Async<bool> give_task(std::shared_ptr<Governed> governed);
  std::chrono::milliseconds task_time() const;
  json::object task_json(const Governed& governed) const;
  std::string whole_task(const Governed& governed) const;
  json::array listen_to_tasks(const Message& request);
  std::string with_tasks_of_server(const std::string& listen) const;
  void tell_task(Governed& governed);
  void tell_ended_tasks(const std::string& listener);
  void send_task(const std::string& listener, const Governed& governed);
  std::optional<json::object> kept_task(const std::string& id);
  bool answers_task(const Message& request);
  bool refuses_task(const Message& request);

  // What was proposed and is answered by now (gateway_proposals.cc).
  Async<void> run_proposals();
  std::shared_ptr<ForwardedCall> proposed_call(const Call& call);

  // Calls (gateway_calls.cc).
  ForwardedCall::Means means_for(const std::string& method, const std::string& about = {},
                                 const std::string& task = {});
  Grants take_grants(Message& request) const;
  void begin_call(Message request, Grants grants);
  void start_waiting_calls();
  std::string newest_call() const;
  bool refuse_headers(Governed& governed);
  void count(const Governed& governed, SteadyTime begin, const Result<Answer>& answer) const;
  Async<void> run_call(std::shared_ptr<Governed> governed);
  std::string response_to(const Governed& governed, const Result<Answer>& answer);
  void forward_progress(const Governed& governed, const json::value& released);

  // Tools.
  Async<void> know_tools(std::string wanted);
  Task<void> list_tools();
  Task<std::set<std::string>> see_tools(const json::object& result);
  void note_doubled(const std::string& name);
  Async<void> list_then_relay(Message request);
  Async<bool> may_instruct(const json::object& opening);
  void tell_of_held(const HeldBack& held) const;

  // The server (gateway.cc).
  bool may_ask(const Message& request);
  Async<void> server_asks(Message request) override;
  Async<void> server_tells(Message notification) override;
  void server_started(bool again) override;
  void server_ended(const std::string& how) override;
  Async<void> keep_server();
  Async<void> reopen();
  Task<void> server_ready(std::chrono::milliseconds longest);
  Task<void> server_ready() { return server_ready(settings_.limits.start); }
  Task<void> server_up();

  boost::asio::any_io_executor executor_;
  Parts parts_;
  Settings settings_;
  std::unique_ptr<ClientLink> client_;
  net::TaskGroup tasks_;
  MessageLog messages_;
  Screen screen_;
  std::unique_ptr<Server> own_server_;
  Server& server_;
  Bell bell_;
  std::optional<Error> gave_up_;
  std::optional<Error> not_let_in_;  // by the server, which wants a login, when it was opened last
  std::optional<Error> unopened_;    // why a client of sessions could not be opened for
  bool stopping_ = false;
  bool hurries_ = false;          // the gateway waits for no server
  bool told_of_trimmed_ = false;  // that messages had more members than they may have

  Era client_era_ = Era::Unknown;
  Era server_era_ = Era::Unknown;
  bool opening_now_ = false;
  std::string opening_;         // params of `initialize`, for a server that is started again
  std::string opening_result_;  // of a server of sessions
  std::string discovery_;       // the result of a stateless server
  bool opened_ = false;
  std::set<std::string> subscriptions_;  // params of `resources/subscribe`
  std::string log_level_;                // params of `logging/setLevel`
  json::object client_capabilities_;
  std::string client_info_;  // JSON text
  std::string client_name_;
  bool ready_ = false;
  std::uint64_t generation_ = 0;

  std::map<std::string, std::shared_ptr<Governed>> calls_;      // by the client's id
  std::map<std::string, std::shared_ptr<Governed>> parked_;     // by state
  std::multimap<std::string, std::shared_ptr<Governed>> away_;  // by identity
  std::map<std::string, std::shared_ptr<Governed>> given_;      // as tasks, by their id
  std::stop_source proposals_;
  BridgeLog bridge_;
  TaskOwners tasks_of_server_;
  std::map<std::string, std::uint64_t> relayed_;             // what is only passed on
  std::map<std::string, std::shared_ptr<Governed>> tokens_;  // of progress
  std::set<std::string> endless_;               // of these, those whose answer is only an end
  std::map<std::string, Listening> listeners_;  // by the client's id
  std::map<std::string, std::set<std::string>> task_listeners_;  // the same, to tasks of ours
  std::set<std::string> tool_listeners_;                         // whom the server tells itself
  std::uint64_t listening_ = 0;                                  // our own `subscriptions/listen`
  std::deque<std::shared_ptr<Governed>> waiting_;                // shared with the maps above
  std::size_t running_ = 0;
  std::uint64_t last_call_ = 0;
  std::map<std::string, std::shared_ptr<Told>> questions_;  // shared with those who wait, by our id
  std::map<std::string, std::shared_ptr<Asking>>
      asking_;  // shared with its call; by the server's id
  std::uint64_t last_question_ = 0;

  std::map<std::string, ToolDefinition> tools_;
  std::set<std::string> doubled_;    // names of two tools
  std::set<std::string> held_back_;  // of them, until a person accepts the change
  bool tools_known_ = false;
  bool listing_ = false;
  std::uint64_t list_changes_ = 0;  // told of so far; one during a listing makes it an old one
  SteadyTime listed_at_{};
  std::uint64_t unlisted_ = 0;  // the generation that did not want to list them
};

}  // namespace sallyport::mcp
