// The session with a remote server: opens it, keeps it, reads its stream and ends it.

#include <algorithm>
#include <boost/json.hpp>

#include "mcp/message/json_text.h"
#include "mcp/server/remote_server.h"

namespace sallyport::mcp {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLongestSessionStream = 24h;
constexpr std::string_view kInitialized = "notifications/initialized";

// Counts an open post, however it ends.
class Counted {
 public:
  explicit Counted(std::size_t& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::size_t& count_;
};

}  // namespace

// The token for the next request.
Async<std::string> RemoteServer::token_to_send() {
  if (!place_.credentials) co_return place_.bearer;
  co_await place_.credentials->renew_if_expiring();
  co_return place_.credentials->token();
}

bool RemoteServer::asks_for_login(const net::HttpHead& head) const {
  if (!place_.credentials) return false;
  if (head.status == 401) return true;
  const auto challenge = oauth::bearer_challenge(head.headers);
  return head.status == 403 && challenge && challenge->wants_more_scope();
}

Task<void> RemoteServer::log_in_again(net::HttpHead head, std::string token) {
  oauth::Credentials::Refusal refusal{
      std::move(token), oauth::bearer_challenge(head.headers).value_or(oauth::Challenge{}),
      parts_.log};
  Result<void> done = co_await place_.credentials->renew(std::move(refusal));
  // Logged once for all requests that fail with it.
  if (!done && std::exchange(last_login_error_, done.error().message) != done.error().message) {
    parts_.log(done.error().message);
  }
  if (done) last_login_error_.clear();
  co_return done;
}

net::HttpHeaders RemoteServer::plain_headers(std::string_view accepted) const {
  net::HttpHeaders headers{{"Accept", std::string(accepted)}, {"User-Agent", "sallyport"}};
  const std::string token = place_.credentials ? place_.credentials->token() : place_.bearer;
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  return headers;
}

net::HttpHeaders RemoteServer::session_headers(std::string_view accepted) const {
  net::HttpHeaders headers = plain_headers(accepted);
  if (!session_.id.empty()) headers.emplace_back("Mcp-Session-Id", session_.id);
  if (!session_.version.empty()) headers.emplace_back("MCP-Protocol-Version", session_.version);
  return headers;
}

// The status is 404. Some servers send 400 with an error that names no request.
bool RemoteServer::has_lost_session(const Talk& talk, unsigned status,
                                    std::string_view body) const {
  if (talk.modern || session_.id.empty()) return false;
  if (status == 404) return true;
  const auto id = find(body, {"id"});
  return status == 400 && find(body, {"error", "code"}) == "-32000" && (!id || id == "null");
}

// Requests that this session refused are sent again after another one is open.
void RemoteServer::open_session_again(std::uint64_t number) {
  if (number != session_.number || stopping_) return;
  session_ = {.number = ++last_session_};
  is_ready_ = false;
  parts_.listener.server_ended("the server has forgotten the session; another one is opened");
  parts_.listener.server_started(true);
}

Async<void> RemoteServer::open_session_later() {
  const auto wait =
      std::min(limits_.first_backoff * (1u << std::min(failures_, 16u)), limits_.longest_backoff);
  ++failures_;
  co_await bell_.wait("stop", wait, {});
  if (!stopping_ && !is_ready_) parts_.listener.server_started(true);
}

Async<bool> RemoteServer::session_ready() {
  const auto end = std::chrono::steady_clock::now() + limits_.start;
  while (!is_ready_ && !stopping_ && std::chrono::steady_clock::now() < end) {
    co_await bell_.wait("ready", 200ms, {});
  }
  co_return is_ready_;
}

// The server must get `notifications/initialized` before any other message.
Async<void> RemoteServer::wait_initialized() {
  const auto end = std::chrono::steady_clock::now() + limits_.start;
  while (initializing_ && std::chrono::steady_clock::now() < end) {
    co_await bell_.wait("introduced", 200ms, {});
  }
}

bool RemoteServer::send(std::string text) {
  if (!up_ || posts_ >= limits_.requests) return false;
  Result<Message> message = Message::read(std::move(text), limits_.json());
  if (!message) return false;
  // For a stateless server, the closed stream is the cancel.
  if (stateless_ && message->method == "notifications/cancelled") return true;
  if (message->method == kInitialized) initializing_ = true;
  tasks_.start(post_only(std::move(*message)));
  return true;
}

Task<net::HttpHead> RemoteServer::post_once(const Message& message) {
  const std::shared_ptr<net::HttpClient> old = old_;
  const std::unique_ptr<net::HttpExchange> http = old ? old->exchange() : (*client_)->exchange();
  net::HttpRequest post{.headers = headers_for(message, stateless_), .body = message.text};
  Result<net::HttpHead> head = co_await http->send(std::move(post), limits_.start);
  if (head) (void)co_await http->read_all(64 * 1024, limits_.patience);
  co_return head;
}

Async<void> RemoteServer::post_only(Message message) {
  const Counted counted(posts_);
  const std::uint64_t session = session_.number;
  const bool old = old_ != nullptr;
  std::string token = co_await token_to_send();
  Result<net::HttpHead> head = co_await post_once(message);
  if (head && asks_for_login(*head) && co_await log_in_again(*head, std::move(token))) {
    head = co_await post_once(message);
  }
  if (message.method == kInitialized) {
    initializing_ = false;
    bell_.ring("introduced");
    if (head && head->status < 400 && !old) tasks_.start(follow_session(session));
  }
  if (head && head->status == 404 && !session_.id.empty()) open_session_again(session);
}

// Messages that belong to no request come on a stream of their own, if the server has one.
Async<void> RemoteServer::follow_session(std::uint64_t number) {
  auto wait = limits_.first_backoff;
  std::string last;
  while (!stopping_ && session_.number == number) {
    const std::string token = co_await token_to_send();
    net::HttpRequest get{.method = "GET", .headers = session_headers("text/event-stream")};
    if (!last.empty()) get.headers.emplace_back("Last-Event-ID", header_value(last));
    const std::unique_ptr<net::HttpExchange> http = (*client_)->exchange();
    const Result<net::HttpHead> head = co_await http->send(std::move(get), limits_.start);
    if (head && head->status == 404 && !session_.id.empty()) co_return open_session_again(number);
    const bool let_in = head && asks_for_login(*head) && co_await log_in_again(*head, token);
    if (head && head->status >= 300 && head->status < 500 && !let_in) co_return;
    const bool streams = head && head->content_type() == "text/event-stream";
    if (head && head->status < 300 && !streams) co_return;
    if (streams) {
      net::SseParser events(limits_.frame_bytes);
      co_await read_session_stream(*http, number, events);
      if (!events.last_id().empty()) last = events.last_id();
      wait = std::max(events.retry().value_or(limits_.first_backoff), limits_.first_backoff);
    }
    co_await bell_.wait("stop", wait, {});
    wait = std::min(2 * wait, limits_.longest_backoff);
  }
}

Async<void> RemoteServer::read_session_stream(net::HttpExchange& http, std::uint64_t number,
                                              net::SseParser& events) {
  while (session_.number == number) {
    while (net::SseEvent* const event = events.next()) {
      if (event->too_long) {
        pending_.complain("a message that is too long", event->data);
      } else if (!event->data.empty()) {
        co_await on_session_text(std::move(event->data));
      }
    }
    const Result<std::string> bytes = co_await http.read(kLongestSessionStream);
    if (!bytes || bytes->empty()) co_return;
    events.feed(*bytes);
  }
}

Async<void> RemoteServer::on_session_text(std::string text) {
  const std::vector<std::string> batch = batch_messages(text, limits_.json());
  if (batch.empty()) co_return co_await on_session_message(std::move(text));
  for (const std::string& message : batch) co_await on_session_message(message);
}

Async<void> RemoteServer::on_session_message(std::string text) {
  Result<Message> message = Message::read(text, limits_.json());
  if (!message) {
    pending_.complain("something that is not a message", text);
  } else if (message->kind == Message::Kind::Response) {
    pending_.complain("an answer to no open request", message->id);
  } else if (message->kind == Message::Kind::Notification) {
    co_await parts_.listener.on_server_notification(std::move(*message));
  } else {
    co_await parts_.listener.on_server_request(std::move(*message));
  }
}

Async<void> RemoteServer::end_session() {
  if (session_.id.empty()) co_return;
  const std::unique_ptr<net::HttpExchange> http = (*client_)->exchange();
  net::HttpRequest request{.method = "DELETE", .headers = session_headers("*/*")};
  (void)co_await http->send(std::move(request), limits_.patience);
}

}  // namespace sallyport::mcp
