#include "net/http_client.h"

#include <gtest/gtest.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "net/task_group.h"
#include "support/governed.h"

namespace sallyport::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// A server; a function plays each of its connections.
struct Upstream {
  explicit Upstream(asio::any_io_executor executor)
      : acceptor(executor, {asio::ip::address_v4::loopback(), 0}), tasks(executor, {}) {}

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()) + "/base?q=1";
  }

  tcp::acceptor acceptor;
  TaskGroup tasks;
  int connections = 0;
  std::string heard;    // all requests
  bool closed = false;  // the client has closed its end
  std::size_t sent = 0;
};
using Play = std::function<Async<void>(Upstream&, tcp::socket&)>;

Async<void> sleep(std::chrono::milliseconds longest) {
  asio::steady_timer timer(co_await asio::this_coro::executor, longest);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// Waits until the whole text has arrived.
Async<void> hear(Upstream& upstream, tcp::socket& socket, std::string until) {
  const std::size_t from = upstream.heard.size();
  while (upstream.heard.find(until, from) == std::string::npos) {
    std::array<char, 4096> piece{};
    const auto [error, size] = co_await socket.async_read_some(asio::buffer(piece), kAwait);
    upstream.heard.append(piece.data(), size);
    if (error) {
      upstream.closed = true;
      co_return;
    }
  }
}
Async<void> say(tcp::socket& socket, std::string text) {
  co_await asio::async_write(socket, asio::buffer(text), kAwait);
}

Async<void> accept(Upstream& upstream, Play play) {
  while (true) {
    auto socket = std::make_unique<tcp::socket>(upstream.acceptor.get_executor());
    const auto [error] = co_await upstream.acceptor.async_accept(*socket, kAwait);
    if (error) co_return;
    ++upstream.connections;
    const auto run = [](Upstream& to, std::unique_ptr<tcp::socket> peer, Play how) -> Async<void> {
      co_await how(to, *peer);
    };
    upstream.tasks.start(run(upstream, std::move(socket), play));
  }
}

// Runs `work` with a client beside an upstream.
void played(Play play, std::function<Async<void>(Upstream&, HttpClient&)> work) {
  const auto all = [&]() -> Async<bool> {
    const auto executor = co_await asio::this_coro::executor;
    Upstream upstream(executor);
    upstream.tasks.start(accept(upstream, play));
    HttpClient::Settings settings{.url = *Url::parse(upstream.url()), .follow_redirects = false};
    auto client = *HttpClient::open(executor, settings);
    co_await work(upstream, *client);
    upstream.tasks.cancel();
    co_return co_await upstream.tasks.join(5s);
  };
  EXPECT_TRUE(test::run_now(all()));
}

Async<std::string> body_of(HttpClient& client, HttpRequest request) {
  const auto exchange = client.exchange();
  const Result<HttpHead> head = co_await exchange->send(std::move(request), 5s);
  if (!head) co_return head.error().message;
  const Result<std::string> body = co_await exchange->read_all(1000, 5s);
  co_return body ? *body : body.error().message;
}

// MP-2, MP-20
TEST(HttpClientTest, OneConnectionServesAllTargetsOfAServer) {
  const Play play = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    for (int i = 0; i < 3; ++i) {
      co_await hear(upstream, socket, "\r\n\r\n");
      co_await say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  };
  played(play, [](Upstream& upstream, HttpClient& client) -> Async<void> {
    EXPECT_EQ(co_await body_of(client, {.method = "GET"}), "ok");
    EXPECT_EQ(co_await body_of(client, {.target = "/v1/messages?beta=true", .headers = {}}), "ok");
    EXPECT_EQ(co_await body_of(client, {.method = "DELETE", .target = "/v1/responses/r_1"}), "ok");
    EXPECT_EQ(upstream.connections, 1);
    EXPECT_TRUE(upstream.heard.starts_with("GET /base?q=1 HTTP/1.1\r\n")) << upstream.heard;
    EXPECT_NE(upstream.heard.find("POST /v1/messages?beta=true HTTP/1.1\r\n"), std::string::npos);
    EXPECT_NE(upstream.heard.find("DELETE /v1/responses/r_1 HTTP/1.1\r\n"), std::string::npos);
  });
}

// MP-89: no text of an agent adds a header or a request.
TEST(HttpClientTest, WhatWouldEndItsLineIsNotSent) {
  const Play silent = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    co_await hear(upstream, socket, "never");
  };
  played(silent, [](Upstream& upstream, HttpClient& client) -> Async<void> {
    for (HttpRequest request :
         {HttpRequest{.target = "/a b"}, HttpRequest{.target = "/\r\nX: y"},
          HttpRequest{.target = "http://other/"}, HttpRequest{.target = ""},
          HttpRequest{.method = "GET /x"}, HttpRequest{.headers = {{"X", "a\r\nY: b"}}},
          HttpRequest{.headers = {{"X", std::string("a\0b", 3)}}},
          HttpRequest{.headers = {{"X: y\nZ", "b"}}}, HttpRequest{.headers = {{"", "b"}}}}) {
      const auto exchange = client.exchange();
      const Result<HttpHead> head = co_await exchange->send(std::move(request), 1s);
      EXPECT_FALSE(head);
      if (!head) EXPECT_EQ(head.error().code, ErrorCode::InvalidInput);
      EXPECT_FALSE(exchange->written());
    }
    EXPECT_EQ(upstream.connections, 0);
  });
}

// MP-6: a value that is not ASCII passes unchanged.
TEST(HttpClientTest, AHeaderWithOtherLettersIsSentAsItIs) {
  const Play play = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    co_await hear(upstream, socket, "\r\n\r\n");
    co_await say(socket, "HTTP/1.1 204 No Content\r\n\r\n");
  };
  played(play, [](Upstream& upstream, HttpClient& client) -> Async<void> {
    EXPECT_EQ(co_await body_of(client, {.headers = {{"X-Name", "J\xC3\xBCrgen\t1"}}}), "");
    EXPECT_NE(upstream.heard.find("X-Name: J\xC3\xBCrgen\t1\r\n"), std::string::npos);
  });
}

// MP-74
TEST(HttpClientTest, AFailureTellsWhetherTheWholeRequestWasWritten) {
  const Play after = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    co_await hear(upstream, socket, "\r\n\r\nbody");
  };
  played(after, [](Upstream&, HttpClient& client) -> Async<void> {
    const auto exchange = client.exchange();
    const Result<HttpHead> head = co_await exchange->send({.body = "body"}, 5s);
    EXPECT_FALSE(head);
    if (!head) EXPECT_EQ(head.error().code, ErrorCode::Unavailable);
    EXPECT_TRUE(exchange->written());
  });
  // The server reads nothing and resets the connection.
  const Play before = [](Upstream&, tcp::socket& socket) -> Async<void> {
    co_await sleep(100ms);
    socket.set_option(asio::socket_base::linger(true, 0));
    socket.close();
  };
  played(before, [](Upstream& upstream, HttpClient& client) -> Async<void> {
    const auto exchange = client.exchange();
    const HttpRequest request{.body = std::string(64u << 20, 'x')};
    const Result<HttpHead> head = co_await exchange->send(request, 5s);
    EXPECT_FALSE(head);
    if (!head) EXPECT_EQ(head.error().code, ErrorCode::Unavailable);
    EXPECT_FALSE(exchange->written());
    EXPECT_EQ(upstream.connections, 1);
  });
}

// An answer that arrived before the request was read was once lost, with the error of the write.
TEST(HttpClientTest, AnAnswerThatComesBeforeTheRequestWasReadIsHeard) {
  const Play early = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    co_await hear(upstream, socket, "\r\n\r\n");
    co_await say(socket, "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno");
    co_await sleep(200ms);
  };
  played(early, [](Upstream&, HttpClient& client) -> Async<void> {
    const auto exchange = client.exchange();
    const HttpRequest request{.body = std::string(64u << 20, 'x')};
    const Result<HttpHead> head = co_await exchange->send(request, 20s);
    EXPECT_TRUE(head) << head.error().message;
    if (head) EXPECT_EQ(head->status, 413u);
    EXPECT_FALSE(exchange->written());
  });
}

// MP-12
TEST(HttpClientTest, InformationalAnswersAndTrailersAreDropped) {
  const Play play = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    co_await hear(upstream, socket, "\r\n\r\n");
    co_await say(socket,
                 "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                 "2\r\nok\r\n0\r\nX-Sum: 7\r\nSet-Cookie: a=b\r\n\r\n");
  };
  played(play, [](Upstream&, HttpClient& client) -> Async<void> {
    const auto exchange = client.exchange();
    const Result<HttpHead> head = co_await exchange->send({}, 5s);
    EXPECT_TRUE(head);
    if (!head) co_return;
    EXPECT_EQ(head->status, 200u);
    EXPECT_EQ(head->headers.size(), 2u);
    EXPECT_EQ(head->header("x-sum"), "");
    EXPECT_EQ(head->header("x-hint"), "");
    EXPECT_EQ(*co_await exchange->read_all(10, 5s), "ok");
  });
}

// MP-80: a server that sends endlessly is stopped while the client does not read.
TEST(HttpClientTest, NothingIsReadWhileNobodyAsks) {
  static constexpr std::size_t kLarge = 64u << 20;
  const Play play = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    co_await hear(upstream, socket, "\r\n\r\n");
    co_await say(socket,
                 "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kLarge) + "\r\n\r\n");
    const std::string piece(64u << 10, 'x');
    while (upstream.sent < kLarge) {
      const auto [error, size] = co_await socket.async_write_some(asio::buffer(piece), kAwait);
      if (error) co_return;
      upstream.sent += size;
    }
  };
  played(play, [](Upstream& upstream, HttpClient& client) -> Async<void> {
    const auto exchange = client.exchange();
    EXPECT_TRUE(co_await exchange->send({}, 5s));
    std::size_t before = 1;
    while (before != upstream.sent) {  // until the buffers of the kernel are full
      before = upstream.sent;
      co_await sleep(100ms);
    }
    EXPECT_LT(upstream.sent, kLarge / 2);
    std::size_t read = 0;
    while (true) {
      const Result<std::string> piece = co_await exchange->read(5s);
      EXPECT_TRUE(piece);
      if (!piece || piece->empty()) break;
      EXPECT_LE(piece->size(), 48u << 10);
      read += piece->size();
    }
    EXPECT_EQ(read, kLarge);
  });
}

// MP-79
TEST(HttpClientTest, CancelClosesTheConnectionAtOnce) {
  const Play play = [](Upstream& upstream, tcp::socket& socket) -> Async<void> {
    co_await hear(upstream, socket, "\r\n\r\n");
    if (upstream.heard.starts_with("POST /stream")) {
      co_await say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx");
    }
    co_await hear(upstream, socket, "never");
  };
  for (const std::string target : {"/stream", "/silent"}) {
    played(play, [&](Upstream& upstream, HttpClient& client) -> Async<void> {
      const auto exchange = client.exchange();
      TaskGroup group(co_await asio::this_coro::executor, {});
      ErrorCode code = ErrorCode::Internal;
      const auto run = [&]() -> Async<void> {
        const Result<HttpHead> head = co_await exchange->send({.target = target}, 20s);
        if (!head) code = head.error().code;
        while (head) {
          const Result<std::string> piece = co_await exchange->read(20s);
          if (!piece) code = piece.error().code;
          if (!piece || piece->empty()) break;
        }
      };
      group.start(run());
      while (upstream.heard.empty()) co_await sleep(5ms);
      co_await sleep(50ms);
      exchange->cancel();
      for (int i = 0; i < 200 && !upstream.closed; ++i) co_await sleep(5ms);
      EXPECT_TRUE(upstream.closed) << target;
      EXPECT_TRUE(co_await group.join(1s));
      EXPECT_EQ(code, ErrorCode::Cancelled) << target;
    });
  }
}

}  // namespace
}  // namespace sallyport::net
