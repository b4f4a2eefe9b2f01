// A switchboard connects one client to several tool servers, each behind its own gateway.
//
// Tools, prompts and tasks are named `server.name`; a resource belongs to the server that listed
// it. A request to all servers is sent to all and answered once. With a single server everything
// passes unchanged, including plain names.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bell.h"
#include "mcp/client/client_link.h"
#include "mcp/client/conversation.h"
#include "mcp/message/limits.h"
#include "mcp/message/message.h"
#include "mcp/server/server.h"
#include "mcp/switchboard/merged_answers.h"
#include "net/task_group.h"
#include "sallyport/answer.h"

namespace sallyport::mcp {

class Extension;

// Used on a context with one thread.
class Switchboard final : public Conversation {
 public:
  // Makes the gateway of a server, given the link on which it sees the client.
  using Connect = std::function<std::shared_ptr<Conversation>(std::unique_ptr<ClientLink> client)>;
  struct NamedServer {
    std::string name;  // unique
    Connect connect;
  };
  struct Settings {
    Limits limits{};
    Server::Log log;  // for people; must not wait
    // Decides and records a call of something that no server has. Empty: such a call is refused
    // with an error.
    std::function<Task<Answer>(Call call)> refuse{};
  };
  Switchboard(boost::asio::any_io_executor executor, std::unique_ptr<ClientLink> client,
              std::vector<NamedServer> upstreams, Settings settings);
  ~Switchboard() override;

  // Runs until the client leaves, or no server is left.
  Task<void> run() override;
  void stop() override;
  bool holds_calls() const override;
  bool quiet() const override;

 private:
  friend class Extension;
  // A list that was answered without this server.
  struct Missed {
    std::string request{};  // the client's, for its first page
    bool asked = false;     // sent again, and not answered yet
  };
  struct Party {
    std::string name;
    Extension* line = nullptr;                   // owned by the conversation
    std::shared_ptr<Conversation> conversation;  // shared with abandoned calls
    bool gone = false;
    bool late = false;                       // left out of an answer, and silent since
    bool answered = false;                   // since its gateway was connected
    std::map<std::string, Missed> missed{};  // by method
    bool refetching = false;                 // missed lists are being requested again
  };
  // A request that was sent to several servers.
  struct Merge {
    Message request;
    std::chrono::steady_clock::time_point begin{};
    std::unique_ptr<boost::asio::steady_timer> deadline{};
    std::set<std::size_t> waiting{};               // parties that have not answered
    std::map<std::size_t, std::string> results{};  // by party
    std::string error{};                           // the first error, if no server has a result
    std::set<std::size_t> missing{};               // parties that are gone or too late
    // For a subscription: servers that have not acknowledged it, the granted notifications, and
    // messages held back until all have.
    std::set<std::size_t> silent{};
    json::object granted{};
    std::vector<std::string> held{};
  };
  struct Routed {
    std::size_t party = 0;
    std::string method{};
  };
  // The server of a name that the client uses, and the server's own name for it.
  struct Named {
    std::size_t party = 0;
    std::string name{};
  };
  struct Question {
    std::size_t party;
    std::string id;  // the party's id
  };

  // From the client (switchboard.cc).
  Async<void> serve(std::size_t party);
  void on_client_line(net::Line line);
  void on_client_message(std::string text);
  void route(Message request);
  std::optional<Named> named(const std::string& name) const;
  void route_by_name(const Message& request, std::string_view text);
  void route_by_task(const Message& request);
  void route_by_uri(const Message& request, std::string_view text);
  void route_completion(const Message& request);
  void on_client_notification(const Message& notification);
  void cancel(const Message& notification);
  void answer(const Message& response);
  void pass_to(std::size_t party, const Message& request, std::string text);
  void to_client(std::string text, std::string_view about = {});
  void refuse(const Message& request, std::int64_t code, std::string_view why);
  void refuse_unknown(const Message& request, std::string_view why);
  Async<void> record_unknown(Message request, std::string why);
  std::size_t owner_of(const std::string& uri) const;

  // From a server.
  bool on_server_message(std::size_t party, std::string text, std::string_view about);
  bool on_server_notification(std::size_t party, const Message& notification,
                              std::string_view about);
  void on_party_ended(std::size_t party);

  // Requests to all parties, and their merged answers (switchboard_merge.cc).
  void ask_all(const Message& request);
  void listen(const Message& request);
  void listen_at(Merge& merge, std::size_t party);
  void notify_listener(Merge& merge, std::string text);
  Merge& begin_merge(const Message& request, std::chrono::milliseconds longest);
  void finish_by(Merge& merge, std::chrono::steady_clock::time_point when);
  void abandon_late_servers(Merge& merge);
  void on_deadline(const std::string& id);
  void take_part(const std::string& id, std::size_t party, const Message* response);
  void finish(const std::string& id);
  void end_subscription(const std::string& id, std::string_view result);
  void end_merges();
  void on_granted(std::size_t party, const Message& notification);
  void acknowledge(const std::string& id, Merge& merge);
  void remember(const Merge& merge);
  json::array own_tasks(const json::array& wanted, std::size_t party) const;

  // Lists that were answered without a party (switchboard_missed.cc).
  void note_missed(std::size_t party, const Message& request);
  Async<void> refetch_missed(std::size_t party);
  bool take_missed_list(const Message& answer);
  void notify_changed(const std::string& list);
  void connect(std::size_t party);
  void reconnect(std::size_t party);
  std::string own_id(std::string_view purpose);

  boost::asio::any_io_executor executor_;
  std::unique_ptr<ClientLink> client_;
  Settings settings_;
  net::TaskGroup tasks_;
  std::vector<NamedServer> upstreams_;
  std::vector<Party> parties_;                          // one for each upstream
  std::vector<std::shared_ptr<Conversation>> retired_;  // ended; shared with abandoned calls
  std::map<std::string, Routed> routed_;                // by the client's id: the party
  std::map<std::string, Merge> merges_;                 // by the client's id
  std::map<std::string, Question> questions_;           // by our id
  std::uint64_t last_question_ = 0;
  std::map<std::string, Routed> list_requests_;  // by our id
  std::uint64_t last_own_ = 0;
  // Messages of the client that a later gateway needs too. Empty: not received.
  std::string opening_;
  std::string opened_;
  std::string log_level_;
  Bell bell_;
  std::map<std::string, std::size_t> resources_;  // by URI
  std::map<std::string, std::size_t> templates_;  // by the text before the first `{`
  std::set<std::size_t> with_resources_;          // parties that declare resources
  std::optional<Error> gave_up_;
  bool stopping_ = false;
};

}  // namespace sallyport::mcp
