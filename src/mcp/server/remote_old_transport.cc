// The transport of 2024-11-05: we open a stream (GET), and its first event names the address for
// posts. Every answer comes on that stream, and the session ends with it.
#include <fmt/format.h>

#include "mcp/server/remote_server.h"

namespace sallyport::mcp {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLongestOldStream = 24h;
constexpr std::size_t kOldRefusalBytes = 64u << 10;

}  // namespace

// True for the statuses with which such a server refuses a POST at the address of its stream.
bool RemoteServer::may_be_old(const Talk& talk, unsigned status) {
  const bool refuses = status == 400 || status == 404 || status == 405;
  return refuses && talk.request.method == "initialize" && !talk.modern;
}

// Looks for the stream of the old transport. Without it the refusal of the server is final.
Async<void> RemoteServer::find_old_stream() {
  std::unique_ptr<net::HttpExchange> http = (*client_)->exchange();
  net::HttpRequest get{.method = "GET", .headers = plain_headers("text/event-stream")};
  const Result<net::HttpHead> head = co_await http->send(std::move(get), limits_.start);
  if (!head || head->status != 200 || head->content_type() != "text/event-stream") co_return;
  net::SseParser events(limits_.frame_bytes);
  const net::SseEvent* first = nullptr;
  // A server that sends no complete event gets no more time than a silent one.
  const auto end = std::chrono::steady_clock::now() + limits_.start;
  while (!(first = events.next())) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) co_return;
    const Result<std::string> bytes = co_await http->read(left);
    if (!bytes || bytes->empty()) co_return;
    events.feed(*bytes);
  }
  if (first->name != "endpoint" || first->too_long) co_return;
  Result<net::Url> address = place_.url.followed(first->data);
  if (!address) {
    parts_.log("the server names an address of another server for messages, and is not used");
    co_return;
  }
  Result<std::unique_ptr<net::HttpClient>> client = net::HttpClient::open(
      parts_.executor, {.url = std::move(*address), .allow_plain = place_.allow_plain});
  if (!client) co_return;
  old_ = std::move(*client);
  tasks_.start(read_old_stream(std::move(http), std::move(events)));
}

Async<void> RemoteServer::read_old_stream(std::unique_ptr<net::HttpExchange> http,
                                          net::SseParser events) {
  while (!stopping_) {
    while (net::SseEvent* const event = events.next()) co_await on_old_event(std::move(*event));
    const Result<std::string> bytes = co_await http->read(kLongestOldStream);
    if (!bytes || bytes->empty()) break;
    events.feed(*bytes);
  }
  if (stopping_) co_return;
  old_.reset();
  session_ = {.number = ++last_session_};
  is_ready_ = false;
  const std::string reason = "the server ended its stream";
  parts_.listener.server_ended(reason);
  co_await pending_.fail_all(reason);
  co_await open_session_later();
}

Async<void> RemoteServer::on_old_event(net::SseEvent event) {
  if (event.data.empty()) co_return;
  if (event.too_long) {
    std::string id = id_in_malformed(event.data, event.tail);
    co_await pending_.answer_malformed(std::move(event.data), std::move(id), "a message too long");
    co_return;
  }
  Result<Message> message = Message::read(event.data, limits_.json());
  if (message && message->kind == Message::Kind::Response) {
    co_await pending_.answer(std::move(*message));
  } else if (message) {
    co_await on_session_message(std::move(event.data));
  } else {
    std::string id = id_in_malformed(event.data, event.data);
    co_await pending_.answer_malformed(std::move(event.data), std::move(id),
                                       message.error().message);
  }
}

// The answer comes on the stream, unless the server refuses the post.
Async<void> RemoteServer::post_old(std::shared_ptr<Talk> talk) {
  const std::shared_ptr<net::HttpClient> client = old_;
  talk->http = client->exchange();
  net::HttpRequest post{.headers = plain_headers("*/*"), .body = talk->request.text};
  post.headers.emplace_back("Content-Type", "application/json");
  const Result<net::HttpHead> head = co_await talk->http->send(std::move(post), limits_.start);
  if (head) (void)co_await talk->http->read_all(kOldRefusalBytes, limits_.patience);
  if (!head) {
    co_await pending_.settle(talk->id, lost(head.error(), *talk->http));
  } else if (head->status >= 400) {
    co_await pending_.settle(talk->id,
                             failed(fmt::format("the server answered with HTTP {}", head->status)));
  }
  talk->http.reset();
}

}  // namespace sallyport::mcp
