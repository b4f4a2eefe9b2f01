// A remote tool server of either era; a function on loopback turns requests into responses.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/json.hpp>
#include <deque>

#include "fake_links.h"
#include "mcp/message/era.h"
#include "mcp/server/remote_server.h"
#include "net/http_server.h"

namespace sallyport::mcp::test {

using namespace std::chrono_literals;
using net::ServerRequest;
using net::ServerResponse;

// A stream that ends when the test releases it.
inline constexpr std::string_view kHangs = "hangs";

class PlayedServer final : public net::HttpHandler {
 public:
  using Answer = std::function<ServerResponse(const ServerRequest&)>;

  Async<std::optional<ServerResponse>> refuse(ServerRequest&) override { co_return std::nullopt; }
  Async<void> handle(net::ServerExchange& exchange) override {
    requests.push_back(exchange.request());
    ServerResponse response = answer(requests.back());
    if (response.cause != kHangs) {
      co_await exchange.respond(std::move(response));
      co_return;
    }
    const std::string piece = std::move(response.body);
    if (!co_await exchange.begin({.headers = response.headers})) co_return;
    (void)co_await exchange.write(piece);
    const int turn = released;
    while (!exchange.gone() && turn == released) {
      boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor, 1ms);
      boost::system::error_code ignored;
      co_await pause.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
      for (; !more.empty(); more.pop_front()) (void)co_await exchange.write(more.front());
    }
  }
  std::size_t times(std::string_view method, std::string_view text = {}) const {
    return static_cast<std::size_t>(std::ranges::count_if(requests, [&](const ServerRequest& one) {
      return one.method == method && one.body.find(text) != std::string::npos;
    }));
  }
  const ServerRequest& last(std::string_view method, std::string_view text = {}) const {
    for (auto one = requests.rbegin(); one != requests.rend(); ++one) {
      if (one->method == method && one->body.find(text) != std::string::npos) return *one;
    }
    throw std::out_of_range(std::string(method));
  }

  Answer answer;
  std::deque<ServerRequest> requests;
  std::deque<std::string> more;  // for the stream that hangs
  int released = 0;
};

class HeardServer final : public Server::Listener {
 public:
  Async<void> on_server_request(Message request) override {
    asked.push_back(request.method);
    co_return;
  }
  Async<void> on_server_notification(Message notification) override {
    told.push_back(notification.method);
    co_return;
  }
  void server_started(bool again) override {
    started.push_back(again);
    if (on_start) on_start(again);
  }
  void server_ended(const std::string& how) override { ended.push_back(how); }

  std::vector<std::string> asked;
  std::vector<std::string> told;
  std::vector<bool> started;
  std::vector<std::string> ended;
  std::function<void(bool again)> on_start;
};

struct KeptReply final : Waiter {
  Async<void> answered(Response given) override {
    reply = std::move(given);
    ++times;
    co_return;
  }
  std::optional<Response> reply;
  int times = 0;
};

class FakeCredentials final : public oauth::Credentials {
 public:
  std::string token() const override { return fmt::format("t{}", renewals); }
  Async<void> renew_if_expiring() override { co_return; }
  Task<void> renew(Refusal refusal) override {
    ++asked;
    EXPECT_EQ(refusal.token, token());
    if (asked > most) {
      co_return fail(ErrorCode::Unavailable, "log in with `sallyport login`");
    }
    ++renewals;
    co_return Result<void>{};
  }
  bool busy() const override { return false; }
  int renewals = 0;
  int asked = 0;
  int most = 100;
};

class RemoteServerTest : public testing::Test {
 protected:
  using Ptr = std::shared_ptr<KeptReply>;  // shared with the server that answers

  RemoteServerTest() : http_(loop.get_executor(), {}, [](std::string_view) {}) {
    http_.route("/mcp", played);
    http_.route("/messages", played);
    port = *http_.listen("127.0.0.1", 0);
    boost::asio::co_spawn(loop, http_.run(100ms), boost::asio::detached);
    limits.first_backoff = 1ms;
    limits.longest_backoff = 4ms;
    limits.patience = 200ms;
    limits.start = 20s;
    played.answer = [this](const ServerRequest& request) { return session(request); };
  }
  ~RemoteServerTest() override { end(); }

  RemoteServer& server() {
    if (!server_) {
      const net::Url url = *net::Url::parse(fmt::format("http://127.0.0.1:{}/mcp", port));
      server_.emplace(
          Server::Parts{.executor = loop.get_executor(),
                        .limits = limits,
                        .listener = heard,
                        .log = [this](std::string_view line) { log += std::string(line) + '\n'; },
                        .server_log = [](std::string_view) {}},
          RemoteServer::Place{.url = url, .bearer = "ours", .credentials = credentials});
      boost::asio::co_spawn(loop, server_->run(),
                            [this](std::exception_ptr, Result<void>) { over_ = true; });
      EXPECT_TRUE(until([&] { return server_->up(); }));
    }
    return *server_;
  }
  // A port at which nobody listens.
  std::uint16_t unused_port() {
    using boost::asio::ip::tcp;
    return tcp::acceptor(loop, {boost::asio::ip::address_v4::loopback(), 0})
        .local_endpoint()
        .port();
  }
  void end() {
    if (server_ && !over_) {
      boost::asio::co_spawn(loop, server_->stop(), boost::asio::detached);
      EXPECT_TRUE(until([&] { return over_; }));
    }
    ++played.released;
    http_.stop();
    (void)until([&] { return loop.stopped(); });
  }
  bool until(const std::function<bool()>& holds) { return run_until(loop, holds); }

  // A server of sessions: `s1`, then `s2` and so on.
  ServerResponse session(const ServerRequest& request) {
    if (request.method == "GET") return {.status = 405};
    if (request.method == "DELETE") return {.status = 200};
    const auto id = find(request.body, {"id"});
    if (!id) return {.status = 202};
    if (find(request.body, {"method"}) == "\"initialize\"") {
      ServerResponse opened =
          ServerResponse::json(200, result_text(*id, R"({"protocolVersion":"2025-06-18"})"));
      opened.headers.emplace_back("mcp-session-id", fmt::format("s{}", ++sessions));
      return opened;
    }
    return ServerResponse::json(200, result_text(*id, "\"fine\""));
  }
  static ServerResponse stream(std::string events) {
    return {.headers = {{"content-type", "text/event-stream"}}, .body = std::move(events)};
  }
  static ServerResponse hanging(std::string events = {}) {
    ServerResponse response = stream(std::move(events));
    response.cause = kHangs;
    return response;
  }
  static std::string event(std::string_view text) { return fmt::format("data: {}\n\n", text); }
  static std::string modern_params(std::string_view more = {}) {
    return fmt::format(R"({{{}"_meta":{{"{}":"{}","{}":{{}}}}}})", more, kMetaVersion,
                       kModernVersion, kMetaCapabilities);
  }

  Ptr begin(std::string method, std::string params = "{}") {
    auto kept = std::make_shared<KeptReply>();
    const Result<std::uint64_t> sent = server().request(
        [&](std::string_view id) { return request_text(id, method, params); }, kept);
    EXPECT_TRUE(sent);
    last_id = sent.value_or(0);
    return kept;
  }
  Response finish(const Ptr& kept) {
    EXPECT_TRUE(until([&] { return kept->reply.has_value(); }));
    return kept->reply.value_or(Response{});
  }
  Response ask(std::string method, std::string params = "{}") {
    return finish(begin(std::move(method), std::move(params)));
  }
  // The gateway's reactions to a server that has started.
  void open() {
    ASSERT_TRUE(ask("initialize").message);
    server().ready();
    ASSERT_TRUE(server().send(notification_text("notifications/initialized", "{}")));
  }
  void open_again_by_itself() {
    heard.on_start = [this](bool again) {
      if (!again) return;
      boost::asio::post(loop, [this] {
        auto kept = std::make_shared<KeptReply>();
        (void)server().request(
            [&](std::string_view id) { return request_text(id, "initialize", "{}"); }, kept);
        boost::asio::co_spawn(loop, ready_after(kept), boost::asio::detached);
      });
    };
  }
  Async<void> ready_after(Ptr kept) {
    while (!kept->reply) {
      boost::asio::steady_timer pause(loop, 1ms);
      boost::system::error_code ignored;
      co_await pause.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    if (kept->reply->message) server().ready();
  }
  static std::string head(const ServerRequest& request, std::string_view name) {
    return std::string(request.header(name).value_or("(none)"));
  }

  boost::asio::io_context loop;
  Limits limits;
  PlayedServer played;
  HeardServer heard;
  std::shared_ptr<FakeCredentials> credentials;  // shared with the server
  std::string log;
  std::uint16_t port = 0;
  int sessions = 0;
  std::uint64_t last_id = 0;

 private:
  net::HttpServer http_;
  std::optional<RemoteServer> server_;
  bool over_ = false;
};

}  // namespace sallyport::mcp::test
