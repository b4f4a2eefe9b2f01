// One client: its link, its own description, its requests that are not calls, and the questions to
// it.
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
  std::uint64_t server_id = 0;           // under which the server knows it; 0: it does not
  std::optional<Listening> listening{};  // a subscription that we hold, and no server
  bool endless = false;                  // the answer is only the end of a subscription
  bool hears_of_tools = false;           // from the server, and from us if a person accepts one
  std::set<std::string> tasks{};         // of ours that it listens to
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
  // Only one revision has batches; `version` is what one side named when it opened, JSON text.
  void note_version(std::optional<std::string_view> version);
  // As `ClientLink::send`.
  void send(std::string text, std::string_view about = {});
  void refuse(const Message& request, std::int64_t code, std::string_view why);
  Async<void> room() { return link_->room(settings_.limits.start); }
  ClientLink& link() { return *link_; }

  // What the client says about itself: in each request of the stateless era, or when it opens.
  void meet(const Message& request);
  void meet_opening(const Message& request);
  const ClientProfile& profile() const { return profile_; }
  Era era() const { return profile_.era; }
  // The error for a request of the wrong era for this client; empty: the era is right.
  std::string era_error(const Message& request) const;

  // Requests that are not calls, by the client's id.
  std::map<std::string, OpenRequest>& requests() { return requests_; }
  OpenRequest& begin(const std::string& id) { return requests_[id] = {}; }
  bool is_open(const std::string& id) const { return requests_.contains(id); }
  // True: it was open. The client still wants the answer, which is about to be sent.
  bool end(const std::string& id) { return requests_.erase(id) > 0; }
  std::size_t unanswered() const;  // without subscriptions

  // Questions to the client. The id is ours, and JSON.
  using Question = std::pair<std::string, std::shared_ptr<AwaitedAnswer>>;
  Question open_question();
  // Null: it is not open any more.
  std::shared_ptr<AwaitedAnswer> close_question(const std::string& id);
  std::uint64_t next_number() { return ++last_number_; }
  bool has_room_for_question() const { return questions_.size() < settings_.limits.requests; }
  void hear_answer(Message answer);

 private:
  void hear(net::Line line);
  void hear_text(std::string text);

  boost::asio::any_io_executor executor_;
  MessageDoor& door_;
  Settings settings_;
  std::unique_ptr<ClientLink> link_;
  ClientProfile profile_;
  bool has_batches_ = false;
  std::deque<Message> heard_;  // the rest of a batch
  std::map<std::string, OpenRequest> requests_;
  std::map<std::string, std::shared_ptr<AwaitedAnswer>> questions_;  // by our id
  std::uint64_t last_number_ = 0;
};

}  // namespace sallyport::mcp
