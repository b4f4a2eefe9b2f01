#include "net/http_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "support/governed.h"

namespace sallyport::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

Async<void> sleep(std::chrono::milliseconds longest) {
  asio::steady_timer timer(co_await asio::this_coro::executor, longest);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// Echoes the request; some paths are special.
class Echo final : public HttpHandler {
 public:
  Async<std::optional<ServerResponse>> refuse(ServerRequest& head) override {
    if (head.header("x-refuse")) co_return ServerResponse::text(403, "no\n");
    head.principal = head.header("x-principal").value_or("");
    co_return std::nullopt;
  }
  Async<void> handle(ServerExchange& exchange) override {
    const ServerRequest request = exchange.request();
    ++handled;
    if (request.query == "silent") co_return;
    if (request.query == "headers") {
      co_await exchange.respond({.status = 200,
                                 .headers = {{"x-good", "J\xC3\xBCrgen"},
                                             {"x-bad", "a\r\nset-cookie: b=c"},
                                             {"x-bad", std::string("a\0b", 3)},
                                             {"set-cookie: b=c\r\nx", "y"},
                                             {"bad name", "y"},
                                             {"", "y"}}});
      co_return;
    }
    if (request.query == "stream") {
      co_await exchange.begin({.headers = {{"content-type", "text/event-stream"}}});
      for (int i = 0; i < 3; ++i) co_await exchange.write("piece " + std::to_string(i) + "\n");
      co_return;
    }
    if (request.query == "wait") {
      asio::steady_timer timer(co_await asio::this_coro::executor, 20s);
      exchange.on_gone([&] {
        ++gone;
        timer.cancel();
      });
      boost::system::error_code ignored;
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      co_return;
    }
    if (request.query == "leaves") {
      bool running = true;
      exchange.on_gone([&running] { EXPECT_TRUE(running); });
      co_await exchange.begin({.headers = {{"content-type", "text/event-stream"}}});
      co_await exchange.write("piece\n");
      co_await sleep(5ms);
      running = false;
      co_return;
    }
    if (request.query == "size") {
      co_await exchange.respond(
          ServerResponse::text(200, std::to_string(request.body.size()) + " bytes"));
      co_return;
    }
    if (request.query == "slow") co_await sleep(200ms);
    co_await exchange.respond(ServerResponse::text(200, request.method + ' ' + request.body));
  }

  int handled = 0;
  int gone = 0;
};

// One connection of a client, which reads until a text arrives or the other side closes.
class Peer {
 public:
  static Async<std::unique_ptr<Peer>> connect(std::uint16_t port) {
    auto peer = std::make_unique<Peer>(co_await asio::this_coro::executor);
    co_await peer->socket.async_connect({asio::ip::address_v4::loopback(), port},
                                        asio::use_awaitable);
    co_return peer;
  }
  explicit Peer(asio::any_io_executor executor) : socket(executor) {}

  // Returns false if the other side has disconnected. Asio may wait forever on a socket that is
  // written to after that.
  Async<bool> send(std::string text) {
    const auto [error, size] =
        co_await asio::async_write(socket, asio::buffer(text), asio::as_tuple(asio::use_awaitable));
    co_return !error;
  }
  Async<std::string> read(std::string until) {
    while (heard.find(until) == std::string::npos && !closed) {
      std::array<char, 4096> piece{};
      const auto [error, size] =
          co_await socket.async_read_some(asio::buffer(piece), asio::as_tuple(asio::use_awaitable));
      heard.append(piece.data(), size);
      closed = static_cast<bool>(error);
    }
    co_return heard;
  }
  Async<std::string> read_all() { return read("never said"); }

  tcp::socket socket;
  std::string heard;
  bool closed = false;
};

struct Bench {
  Echo echo;
  std::unique_ptr<HttpServer> server;
  std::uint16_t port = 0;
};

// Runs `work` beside a server, then stops it. Returns true if it ended by itself in time.
bool served(HttpLimits limits, std::function<Async<void>(Bench&)> work,
            std::optional<HttpNames> names = std::nullopt) {
  const auto all = [&]() -> Async<bool> {
    const auto executor = co_await asio::this_coro::executor;
    Bench bench;
    bench.server = std::make_unique<HttpServer>(executor, limits, [](std::string_view) {});
    bench.server->route("/echo", bench.echo);
    bench.server->route("/large/", bench.echo, {.body_bytes = 300'000, .write = 5s});
    if (names) bench.server->serve_only(*names);
    bench.port = *bench.server->listen("127.0.0.1", 0);
    TaskGroup group(executor, {});
    group.start(bench.server->run(2s));
    co_await work(bench);
    bench.server->stop();
    co_return co_await group.join(10s);
  };
  return test::run_now(all());
}

const std::string kHost = "Host: x\r\n";

std::string post(const std::string& body, const std::string& more = "") {
  return "POST /echo HTTP/1.1\r\n" + kHost + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Async<std::string> told(Bench& bench, std::string text) {
  auto peer = co_await Peer::connect(bench.port);
  co_await peer->send(std::move(text));
  co_return co_await peer->read_all();
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HttpServerTest, RequestsOfOneConnectionAreAnsweredInTheirOrder) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    // All at once, the first one slow.
    const std::string slow = "POST /echo?slow HTTP/1.1\r\n" + kHost + "Content-Length: 1\r\n\r\n1";
    co_await peer->send(slow + post("2") + post("3"));
    const std::string said = co_await peer->read("POST 3");
    EXPECT_LT(said.find("POST 1"), said.find("POST 2"));
    EXPECT_LT(said.find("POST 2"), said.find("POST 3"));
    EXPECT_EQ(times(said, "200 OK"), 3u);
  }));
}

// MP-12 (partly)
TEST(HttpServerTest, BodiesInChunksAndAfterContinueAreRead) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    co_await peer->send("POST /echo HTTP/1.1\r\n" + kHost +
                        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    EXPECT_NE((co_await peer->read("POST abcde")).find("200 OK"), std::string::npos);
    co_await peer->send("POST /echo HTTP/1.1\r\n" + kHost +
                        "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    co_await peer->read("100 Continue");
    co_await peer->send("hi");
    EXPECT_TRUE((co_await peer->read("POST hi")).ends_with("POST hi"));
  }));
}

TEST(HttpServerTest, AStreamComesInPiecesAndTheConnectionGoesOn) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    co_await peer->send("GET /echo?stream HTTP/1.1\r\n" + kHost + "\r\n");
    const std::string said = co_await peer->read("\r\n0\r\n\r\n");
    EXPECT_EQ(times(said, "piece"), 3u);
    EXPECT_NE(said.find("chunked"), std::string::npos);
    co_await peer->send(post("after"));
    co_await peer->read("POST after");
    // A peer of an older protocol could not detect the end of the stream.
    EXPECT_NE(
        (co_await told(bench, "GET /echo?stream HTTP/1.0\r\n" + kHost + "\r\n")).find(" 505 "),
        std::string::npos);
  }));
}

// MP-89 (partly)
TEST(HttpServerTest, WhatIsNoRequestIsRefusedAndClosed) {
  EXPECT_TRUE(served({.header_bytes = 1000, .body_bytes = 100}, [](Bench& bench) -> Async<void> {
    const std::string head = "POST /echo HTTP/1.1\r\n" + kHost;
    const std::vector<std::pair<std::string, std::string>> cases{
        {"\x16\x03\x01 TLS\r\n\r\n", " 400 "},
        {"GET /echo HTTP/1.1\r\nBad Header: x\r\n\r\n", " 400 "},
        {"GET /echo HTTP/1.1\r\n\r\n", " 400 "},
        {"GET /echo HTTP/1.1\r\n" + kHost + kHost + "\r\n", " 400 "},
        {head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", " 400 "},
        {head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", " 400 "},
        {head + "Content-Length: -1\r\n\r\n", " 400 "},
        {head + "X: " + std::string(2000, 'x') + "\r\n\r\n", " 431 "},
        {head + "Content-Length: 101\r\n\r\n", " 413 "},
        {head + "Transfer-Encoding: chunked\r\n\r\nFFFF\r\n" + std::string(200, 'x'), " 413 "},
        {"GET /other HTTP/1.1\r\n" + kHost + "\r\n", " 404 "},
        // A proxy before the server may interpret each of these differently.
        {head + "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\n1", " 501 "},
        {head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", " 501 "},
        {head + "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", " 501 "},
        {"POST /echo HTTP/1.0\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         " 501 "},
        {head + "X: 1\r\n Content-Length: 1\r\n\r\n1", " 400 "},
        {head + "X-Refuse: 0\r\n\t1\r\nContent-Length: 0\r\n\r\n", " 400 "},
        {head + "X-Refuse: 1\r\nContent-Length: 50\r\n\r\n", " 403 "},
        {head + "X: a\x01z\r\n\r\n", " 400 "},
        {head + "X: a" + std::string(1, '\0') + "z\r\n\r\n", " 400 "},
        {head + "X: a\x7Fz\r\n\r\n", " 400 "},
        {head + "X: a\rY: b\r\n\r\n", " 400 "},
        {head + "X\x01: a\r\n\r\n", " 400 "},
        {head + "X : a\r\n\r\n", " 400 "},
    };
    for (const auto& [text, status] : cases) {
      const std::string said = co_await told(bench, text);
      EXPECT_NE(said.find(status), std::string::npos) << text << "\n" << said;
      EXPECT_EQ(times(said, "Server: "), 1u) << said;
    }
    EXPECT_EQ(bench.echo.handled, 0);
  }));
}

// MP-10 (partly): model routes take larger bodies than the others.
TEST(HttpServerTest, ARouteHasItsOwnLimitOfBodies) {
  EXPECT_TRUE(served({.body_bytes = 1000}, [](Bench& bench) -> Async<void> {
    const auto sent = [&](const std::string& path, std::size_t size, bool chunks) {
      const std::string head =
          "POST " + path + "?size HTTP/1.1\r\n" + kHost + "Connection: close\r\n";
      const std::string body(size, 'x');
      if (!chunks) {
        return told(bench, head + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body);
      }
      return told(bench, head + "Transfer-Encoding: chunked\r\n\r\n" + fmt::format("{:x}", size) +
                             "\r\n" + body + "\r\n0\r\n\r\n");
    };
    for (const bool chunks : {false, true}) {
      EXPECT_NE((co_await sent("/large/x", 300'000, chunks)).find("300000 bytes"),
                std::string::npos);
      EXPECT_NE((co_await sent("/large/x", 300'001, chunks)).find(" 413 "), std::string::npos);
      EXPECT_NE((co_await sent("/echo", 1000, chunks)).find("1000 bytes"), std::string::npos);
      EXPECT_NE((co_await sent("/echo", 1001, chunks)).find(" 413 "), std::string::npos);
    }
    EXPECT_EQ(bench.echo.handled, 4);
  }));
}

// MP-89 (partly)
TEST(HttpServerTest, NoTextMakesAHeader) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    const std::string said = co_await told(
        bench, "GET /echo?headers HTTP/1.1\r\n" + kHost + "Connection: close\r\n\r\n");
    EXPECT_NE(said.find("x-good: J\xC3\xBCrgen\r\n"), std::string::npos) << said;
    EXPECT_EQ(said.find("set-cookie"), std::string::npos) << said;
    EXPECT_EQ(said.find("bad"), std::string::npos) << said;
  }));
}

// MP-12: a request that is refused by its head gets no request for its body.
TEST(HttpServerTest, ContinueIsSaidOnlyWhenTheHeadIsAccepted) {
  EXPECT_TRUE(served({.body_bytes = 1000}, [](Bench& bench) -> Async<void> {
    const std::string expect = "Expect: 100-Continue\r\n";
    const std::string head = "POST /echo HTTP/1.1\r\n" + kHost + expect;
    EXPECT_EQ(
        (co_await told(bench, head + "X-Refuse: 1\r\nContent-Length: 2\r\n\r\n")).find(" 100 "),
        std::string::npos);
    const std::string large = co_await told(bench, head + "Content-Length: 1001\r\n\r\n");
    EXPECT_EQ(large.find(" 100 "), std::string::npos);
    EXPECT_NE(large.find(" 413 "), std::string::npos);
    auto peer = co_await Peer::connect(bench.port);
    co_await peer->send(head + "Content-Length: 2\r\n\r\n");
    EXPECT_TRUE((co_await peer->read("\r\n\r\n")).starts_with("HTTP/1.1 100 Continue\r\n\r\n"));
    co_await peer->send("hi");
    EXPECT_TRUE((co_await peer->read("POST hi")).ends_with("POST hi"));
  }));
}

// MP-12
TEST(HttpServerTest, TrailersOfARequestAreDropped) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    const std::string said =
        co_await told(bench, "POST /echo HTTP/1.1\r\n" + kHost +
                                 "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                 "2\r\nok\r\n0\r\nX-Refuse: 1\r\n\r\n");
    EXPECT_NE(said.find("POST ok"), std::string::npos) << said;
  }));
}

// A peer that had sent a byte more than its request could once disconnect unnoticed.
// MP-79 (partly)
TEST(HttpServerTest, AHandlerHearsThatAPeerWithMoreToSayHasGone) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    co_await peer->send("GET /echo?wait HTTP/1.1\r\n" + kHost + "\r\n" + "GET /e");
    while (bench.echo.handled == 0) co_await sleep(5ms);
    co_await peer->send("cho");
    EXPECT_EQ(bench.echo.gone, 0);
    peer->socket.close();
    for (int i = 0; i < 200 && bench.echo.gone == 0; ++i) co_await sleep(5ms);
    EXPECT_EQ(bench.echo.gone, 1);
  }));
}

TEST(HttpServerTest, WhatStandsBesideAChunkHasALimit) {
  EXPECT_TRUE(served({.header_bytes = 1000}, [](Bench& bench) -> Async<void> {
    const std::string head =
        "POST /echo HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n";
    for (const char* const endless : {"1;", "0\r\nX: "}) {
      auto peer = co_await Peer::connect(bench.port);
      co_await peer->send(head + endless + std::string(200'000, 'x'));
      EXPECT_NE((co_await peer->read("\r\n\r\n")).find(" 431 "), std::string::npos) << peer->heard;
    }
    EXPECT_EQ(bench.echo.handled, 0);
  }));
}

TEST(HttpServerTest, LargeBodiesAreReadAndTheNextRequestBehindThemToo) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    const std::string body(16u << 20, 'x');
    co_await peer->send("POST /echo?size HTTP/1.1\r\n" + kHost + "Content-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body + post("next"));
    const std::string said = co_await peer->read("POST next");
    EXPECT_NE(said.find("16777216 bytes"), std::string::npos);
    EXPECT_EQ(times(said, "200 OK"), 2u);
  }));
}

// Public pages once took 64 MiB from each connection before they were shown.
TEST(HttpServerTest, WhoAsksToBeShownSomethingSendsNothingLarge) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    const std::string head = "GET /echo?size HTTP/1.1\r\n" + kHost;
    const std::string large = std::to_string((64u << 10) + 1);
    const std::string piece = "8000\r\n" + std::string(0x8000, 'x') + "\r\n";
    for (const std::string& text :
         {head + "Content-Length: " + large + "\r\n\r\n",
          head + "Transfer-Encoding: chunked\r\n\r\n" + piece + piece + piece}) {
      const std::string said = co_await told(bench, text);
      EXPECT_NE(said.find(" 413 "), std::string::npos) << said;
    }
    EXPECT_EQ(bench.echo.handled, 0);
    const std::string small = head + "Connection: close\r\nContent-Length: 2\r\n\r\nab";
    EXPECT_NE((co_await told(bench, small)).find("2 bytes"), std::string::npos);
  }));
}

TEST(HttpServerTest, BodiesThatAreBeingHandledHaveALimitTogether) {
  const HttpLimits limits{.bodies = {.all = 300'000, .each = 300'000}};
  EXPECT_TRUE(served(limits, [](Bench& bench) -> Async<void> {
    const auto large = [](const std::string& what) {
      return "POST /echo?" + what + " HTTP/1.1\r\n" + kHost +
             "Connection: close\r\nContent-Length: 200000\r\n\r\n" + std::string(200'000, 'x');
    };
    auto first = co_await Peer::connect(bench.port);
    co_await first->send(large("slow"));
    while (bench.echo.handled == 0) co_await sleep(5ms);
    EXPECT_NE((co_await told(bench, large("size"))).find(" 503 "), std::string::npos);
    auto small = co_await Peer::connect(bench.port);
    co_await small->send(post("small"));
    EXPECT_NE((co_await small->read("POST small")).find(" 200 "), std::string::npos);
    co_await first->read_all();
    EXPECT_NE((co_await told(bench, large("size"))).find("200000 bytes"), std::string::npos);
  }));
}

TEST(HttpServerTest, SlowAndSilentPeersAreLeft) {
  const HttpLimits limits{.idle = 300ms, .header = 300ms, .body = 300ms};
  EXPECT_TRUE(served(limits, [](Bench& bench) -> Async<void> {
    EXPECT_EQ(co_await told(bench, ""), "");
    EXPECT_EQ(co_await told(bench, "POST /echo HT"), "");
    const std::string half = "POST /echo HTTP/1.1\r\n" + kHost + "Content-Length: 9\r\n\r\nab";
    EXPECT_EQ(co_await told(bench, half), "");
    EXPECT_EQ(bench.echo.handled, 0);
  }));
}

TEST(HttpServerTest, APeerThatDripsIsLeft) {
  EXPECT_TRUE(served({.header = 300ms}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    int drops = 0;
    while (drops < 100 && co_await peer->send("X")) {
      ++drops;
      co_await sleep(50ms);
    }
    EXPECT_LT(drops, 100);
    EXPECT_EQ(bench.echo.handled, 0);
  }));
}

TEST(HttpServerTest, APeerThatDoesNotReadIsLeft) {
  EXPECT_TRUE(served({.write = 300ms}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    const std::string large = post(std::string(8u << 20, 'x'));
    co_await peer->send(large);
    co_await sleep(1s);
    const std::string said = co_await peer->read_all();
    EXPECT_LT(said.size(), large.size());
  }));
}

// One agent that requested much and read nothing once held it all for the full time of each piece.
TEST(HttpServerTest, WhoLeavesMuchUnreadIsNotWaitedForAndHarmsNobodyElse) {
  static constexpr std::size_t kLarge = 8u << 20;
  const HttpLimits limits{.unread = {.all = 4 * kLarge, .each = kLarge + 1024}, .hurried = 300ms};
  EXPECT_TRUE(served(limits, [](Bench& bench) -> Async<void> {
    const auto ask = [&](const std::string& who) -> Async<std::unique_ptr<Peer>> {
      auto peer = co_await Peer::connect(bench.port);
      const int before = bench.echo.handled;
      const std::string more = "Connection: close\r\nX-Principal: " + who + "\r\n";
      co_await peer->send(post(std::string(kLarge, 'x'), more));
      while (bench.echo.handled == before) co_await sleep(5ms);
      co_return peer;
    };
    auto first = co_await ask("a");
    auto second = co_await ask("a");
    auto other = co_await ask("b");
    co_await sleep(1s);
    EXPECT_LT((co_await second->read_all()).size(), kLarge);
    EXPECT_GT((co_await first->read_all()).size(), kLarge);
    EXPECT_GT((co_await other->read_all()).size(), kLarge);
    // Data that was read no longer counts, and a client that reads at once is not delayed further.
    auto again = co_await ask("a");
    EXPECT_GT((co_await again->read_all()).size(), kLarge);
  }));
}

TEST(HttpServerTest, AHandlerHearsThatItsPeerHasGone) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    auto peer = co_await Peer::connect(bench.port);
    co_await peer->send("GET /echo?wait HTTP/1.1\r\n" + kHost + "\r\n");
    while (bench.echo.handled == 0) co_await sleep(5ms);
    EXPECT_EQ(bench.echo.gone, 0);
    peer->socket.close();
    for (int i = 0; i < 400 && bench.echo.gone == 0; ++i) co_await sleep(5ms);
    EXPECT_EQ(bench.echo.gone, 1);
  }));
}

// A client that left between a handler and the end of its stream was once reported to the handler,
// which no longer existed.
TEST(HttpServerTest, AHandlerThatHasReturnedHearsNothing) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    for (int i = 0; i < 10; ++i) {
      auto peer = co_await Peer::connect(bench.port);
      co_await peer->send("GET /echo?leaves HTTP/1.1\r\n" + kHost + "\r\n");
      co_await peer->read("piece");
      peer->socket.set_option(asio::socket_base::linger(true, 0));  // later writes fail
      peer->socket.close();
      co_await sleep(20ms);
    }
    EXPECT_EQ(bench.echo.handled, 10);
  }));
}

TEST(HttpServerTest, AHandlerThatSaysNothingIsAFaultOfOurs) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    const std::string said = co_await told(bench, "GET /echo?silent HTTP/1.1\r\n" + kHost + "\r\n");
    EXPECT_NE(said.find(" 500 "), std::string::npos);
  }));
}

TEST(HttpServerTest, ConnectionsOverTheLimitAreTurnedAway) {
  EXPECT_TRUE(served({.connections = 2}, [](Bench& bench) -> Async<void> {
    auto one = co_await Peer::connect(bench.port);
    auto two = co_await Peer::connect(bench.port);
    const std::string wait = "GET /echo?wait HTTP/1.1\r\n" + kHost + "\r\n";
    co_await one->send(wait);
    co_await two->send(wait);
    while (bench.echo.handled < 2) co_await sleep(5ms);
    EXPECT_NE((co_await told(bench, "")).find(" 503 "), std::string::npos);
    one->socket.close();
    co_await sleep(100ms);
    auto three = co_await Peer::connect(bench.port);
    co_await three->send(post("3"));
    EXPECT_NE((co_await three->read("POST 3")).find("200 OK"), std::string::npos);
  }));
}

// A silent client with the maximum number of connections once kept all others out.
TEST(HttpServerTest, ConnectionsThatSayNothingMakeRoomTheOldestFirst) {
  EXPECT_TRUE(served({.connections = 3}, [](Bench& bench) -> Async<void> {
    auto busy = co_await Peer::connect(bench.port);
    co_await busy->send("GET /echo?wait HTTP/1.1\r\n" + kHost + "\r\n");
    while (bench.echo.handled < 1) co_await sleep(5ms);
    auto silent = co_await Peer::connect(bench.port);
    auto half = co_await Peer::connect(bench.port);
    co_await half->send("POST /echo HTTP/1.1\r\nHo");
    co_await sleep(50ms);
    auto late = co_await Peer::connect(bench.port);
    co_await late->send(post("late"));
    EXPECT_NE((co_await late->read("POST late")).find("200 OK"), std::string::npos);
    EXPECT_EQ(co_await silent->read_all(), "");
    auto later = co_await Peer::connect(bench.port);
    co_await later->send(post("later"));
    EXPECT_NE((co_await later->read("POST later")).find("200 OK"), std::string::npos);
    EXPECT_EQ(co_await half->read_all(), "");
    EXPECT_EQ(bench.echo.gone, 0);
    busy->socket.close();
  }));
}

TEST(HttpServerTest, StoppingLetsRunningRequestsEndAndIdleConnectionsGo) {
  EXPECT_TRUE(served({}, [](Bench& bench) -> Async<void> {
    auto idle = co_await Peer::connect(bench.port);
    co_await idle->send(post("x"));
    co_await idle->read("POST x");
    auto busy = co_await Peer::connect(bench.port);
    co_await busy->send("POST /echo?slow HTTP/1.1\r\n" + kHost + "Content-Length: 1\r\n\r\ny");
    while (bench.echo.handled < 2) co_await sleep(5ms);
    bench.server->stop();
    EXPECT_NE((co_await busy->read_all()).find("POST y"), std::string::npos);
    co_await idle->read_all();
    EXPECT_TRUE(idle->closed);
  }));
}

TEST(HttpServerTest, OnlyNamesThatAreKnownAreServed) {
  const HttpNames names{.hosts = {"x"}, .origins = {"https://good.example"}};
  EXPECT_TRUE(served(
      {},
      [](Bench& bench) -> Async<void> {
        const auto status = [&](std::string headers) -> Async<std::string> {
          const std::string said = co_await told(
              bench, "GET /echo HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n");
          co_return said.substr(9, 3);
        };
        const std::string plain = co_await status("Host: x\r\n");
        EXPECT_EQ(plain, "200");
        const std::string upper = co_await status("Host: X\r\n");
        EXPECT_EQ(upper, "200");
        const std::string foreign = co_await status("Host: evil\r\n");
        EXPECT_EQ(foreign, "403");
        const std::string good = co_await status("Host: x\r\nOrigin: https://good.example\r\n");
        EXPECT_EQ(good, "200");
        const std::string bad = co_await status("Host: x\r\nOrigin: null\r\n");
        EXPECT_EQ(bad, "403");
      },
      names));
}

}  // namespace
}  // namespace sallyport::net
