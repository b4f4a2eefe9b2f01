// One client: its link, its profile, its requests that are not calls, and the questions to it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mcp/client/awaited_answer.h"
#include "mcp/client/client_link.h"
#include "mcp/message/message_door.h"
#include "mcp/message/progress.h"
#include "mcp/message/translation.h"

namespace sallyport::mcp {

// The notifications that a stateless client subscribed to.
struct Listening {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris{};
};

// A request of the client that is not a call, until it is answered.
struct OpenRequest {
  std::uint64_t server_id = 0;           // its id at the server; 0: it was not sent there
  std::optional<Listening> listening{};  // a subscription that we hold, and no server
  bool endless = false;                  // the answer is only the end of a subscription
  bool granted = false;                  // of a subscription: the client was told so
  bool acknowledged = false;             // of a subscription: by the server's current process
  bool gets_tool_changes = false;        // from the server, and from us if a person accepts one
  std::set<std::string> tasks{};         // of ours that it listens to
  std::string token{};                   // of its progress; empty: none
  ToldProgress progress{};
};

// Owned by a gateway and used on its strand.
class ClientSession {
 public:
  struct Settings {
    Limits limits{};
    Server::Log log;  // for operators
  };
  ClientSession(boost::asio::any_io_executor executor, MessageDoor& door, Settings settings,
                std::unique_ptr<ClientLink> link);

  // Returns the next message. Malformed messages are already answered. No value: the client has
  // left, or `ClientLink::hang_up` was called.
  Async<std::optional<Message>> next();
  // `version`: named by one side when it opened, JSON text. One revision has batches.
  void note_version(std::optional<std::string_view> version);
  // As `ClientLink::send`.
  void send(std::string text, std::string_view about = {});
  void refuse(const Message& request, std::int64_t code, std::string_view why);
  Async<void> room() { return link_->room(settings_.limits.start); }
  ClientLink& link() { return *link_; }

  // Store the client's profile: from a stateless request, or from `initialize`.
  void note_profile(const Message& request);
  void note_opening(const Message& request);
  const ClientProfile& profile() const { return profile_; }
  Era era() const { return profile_.era; }
  // The error for a request of the wrong era for this client; empty: the era is right.
  std::string era_error(const Message& request) const;

  // Requests that are not calls, by the client's id.
  std::map<std::string, OpenRequest>& requests() { return requests_; }
  OpenRequest& begin(const std::string& id) { return requests_[id] = {}; }
  bool is_open(const std::string& id) const { return requests_.contains(id); }
  // The open request with this token of progress, by the client's id; null: there is none.
  std::pair<const std::string, OpenRequest>* of_token(const std::string& token);
  // True: it was open. The client still wants the answer, which is about to be sent.
  bool end(const std::string& id) { return requests_.erase(id) > 0; }
  std::size_t unanswered() const;  // without subscriptions

  // Answers a subscription that has ended without an error. `result` is JSON text.
  void end_subscription(const std::string& id, std::string_view result);
  // Answers all that are open: subscriptions have ended, other requests get an error.
  void end_all(std::string_view why);

  // Questions to the client. The id is ours, and JSON.
  using Question = std::pair<std::string, std::shared_ptr<AwaitedAnswer>>;
  Question open_question();
  // Null: it is no longer open.
  std::shared_ptr<AwaitedAnswer> close_question(const std::string& id);
  std::uint64_t next_number() { return ++last_number_; }
  bool has_room_for_question() const { return questions_.size() < settings_.limits.requests; }
  void on_response(Message answer);

 private:
  void on_line(net::Line line);
  void on_text(std::string text);

  boost::asio::any_io_executor executor_;
  MessageDoor& door_;
  Settings settings_;
  std::unique_ptr<ClientLink> link_;
  ClientProfile profile_;
  bool has_batches_ = false;
  std::deque<Message> received_;  // the rest of a batch
  std::map<std::string, OpenRequest> requests_;
  std::map<std::string, std::shared_ptr<AwaitedAnswer>> questions_;  // by our id
  std::uint64_t last_number_ = 0;
};

}  // namespace sallyport::mcp
