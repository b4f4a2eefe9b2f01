// A tool server that is reached over HTTP, of either era.
//
// Each request is a POST; its answer is one JSON document, or a stream of events that ends with it.
// A stateful server names the session in its `initialize` response and may send messages on a
// stream that we open (GET). If the server has forgotten the session, it is opened again, and the
// refused request is sent again, because the server did not run it. For a stateless server a closed
// stream is a cancel. If a server refuses `initialize`, the transport of 2024-11-05 is tried.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bell.h"
#include "mcp/server/pending_requests.h"
#include "mcp/server/request_headers.h"
#include "mcp/server/server.h"
#include "net/http_client.h"
#include "net/sse_parser.h"
#include "net/task_group.h"
#include "oauth/credentials.h"

namespace sallyport::mcp {

class RemoteServer final : public Server {
 public:
  struct Place {
    net::Url url;
    std::string bearer{};  // our own token; the client's token is not forwarded
    // Replaces `bearer`; shared by all sessions with the server.
    std::shared_ptr<oauth::Credentials> credentials{};
    bool allow_plain = false;
  };
  // `InvalidInput`: the settings do not allow this address.
  static Result<ServerMaker> maker(Place place);
  RemoteServer(Parts parts, Place place);

  Task<void> run() override;
  Async<void> stop() override;

  bool up() const override { return up_; }
  void ready() override;
  bool logging_in() const override { return place_.credentials && place_.credentials->busy(); }

  Result<std::uint64_t> request(const Compose& compose, std::shared_ptr<Waiter> waiter) override;
  void abandon(std::uint64_t id, std::string_view reason) override;
  bool send(std::string text) override;

 private:
  // One request in progress, and its answer while it arrives.
  struct Talk {
    Talk(std::uint64_t number, Message message, std::size_t limit);
    std::uint64_t id;
    Message request;
    bool modern;
    std::unique_ptr<net::HttpExchange> http{};
    net::SseParser events;
    bool streams = false;  // more messages may follow the answer
  };
  struct Session {
    std::uint64_t number = 0;
    std::string id{};       // empty: the server does not name it
    std::string version{};  // empty: none is open
  };

  // Requests (remote_server.cc).
  Async<void> converse(std::shared_ptr<Talk> talk);
  static Response lost(Error error, const net::HttpExchange& http);  // for a request without a head
  Async<Response> listen_on(Talk& talk, Response reply);
  Async<Response> answer_to(Talk& talk);
  Async<Response> read_answer(Talk& talk, net::HttpHead head);
  Async<Response> read_stream(Talk& talk);
  Async<bool> resume(Talk& talk);
  Async<void> read_rest(Talk& talk);
  Async<std::optional<Response>> read_events(Talk& talk);
  Async<std::optional<Response>> take_text(const Talk& talk, std::string text);
  Async<std::optional<Response>> take_message(const Talk& talk, std::string text);
  Response apply_answer(const Talk& talk, const net::HttpHead& head, Response reply);
  Message usable_tools(Message answer);
  net::HttpHeaders headers_for(const Message& message, bool modern) const;

  // The oldest transport (remote_old_transport.cc).
  static bool may_be_old(const Talk& talk, unsigned status);
  Async<void> find_old_stream();
  Async<void> read_old_stream(std::unique_ptr<net::HttpExchange> http, net::SseParser events);
  Async<void> on_old_event(net::SseEvent event);
  Async<void> post_old(std::shared_ptr<Talk> talk);

  // The session (remote_session.cc).
  bool has_lost_session(const Talk& talk, unsigned status, std::string_view body) const;
  void open_session_again(std::uint64_t number);
  Async<void> open_session_later();
  Async<bool> session_ready();
  Async<void> wait_initialized();
  Async<void> post_only(Message message);
  Task<net::HttpHead> post_once(const Message& message);
  Async<void> follow_session(std::uint64_t number);
  Async<void> read_session_stream(net::HttpExchange& http, std::uint64_t number,
                                  net::SseParser& events);
  Async<void> on_session_text(std::string text);
  Async<void> on_session_message(std::string text);
  Async<void> end_session();
  Async<std::string> token_to_send();
  bool asks_for_login(const net::HttpHead& head) const;
  Task<void> log_in_again(net::HttpHead head, std::string token);
  net::HttpHeaders plain_headers(std::string_view accepted) const;
  net::HttpHeaders session_headers(std::string_view accepted) const;

  Parts parts_;
  const Limits& limits_;
  Place place_;
  Result<std::unique_ptr<net::HttpClient>> client_;
  // The address for posts to a server of 2024-11-05. Shared with open posts, which may end after
  // the stream that named it.
  std::shared_ptr<net::HttpClient> old_;
  net::TaskGroup tasks_;
  PendingRequests pending_;
  Bell bell_;
  // Shared with the coroutine that runs the request, so that it can be cancelled here.
  std::map<std::uint64_t, std::shared_ptr<Talk>> talks_;
  std::map<std::string, std::vector<ParamHeader>> param_headers_;  // by tool
  Session session_;
  std::uint64_t last_session_ = 0;
  std::size_t posts_ = 0;      // open posts of messages that get no answer
  bool initializing_ = false;  // `notifications/initialized` is being sent
  bool stateless_ = false;     // it has answered a stateless request
  bool up_ = false;
  bool was_ready_ = false;
  bool is_ready_ = false;
  bool stopping_ = false;
  unsigned failures_ = 0;           // to open the session again
  std::string last_login_error_{};  // the last error of a login that was logged
};

}  // namespace sallyport::mcp
