// A provider on this machine; a function plays each of its connections.
#pragma once

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/async.h"
#include "net/task_group.h"
#include "support/governed.h"

namespace sallyport::agent {

using boost::asio::ip::tcp;
inline constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable);

struct Provided {
  explicit Provided(boost::asio::any_io_executor executor)
      : acceptor(executor, {boost::asio::ip::address_v4::loopback(), 0}), tasks(executor, {}) {}

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  }

  tcp::acceptor acceptor;
  net::TaskGroup tasks;
  int connections = 0;
  std::string heard;    // all requests
  bool closed = false;  // the client has closed its end
};
using Play = std::function<Async<void>(Provided&, tcp::socket&)>;

inline Async<void> hear(Provided& provider, tcp::socket& socket, std::string until) {
  const std::size_t from = provider.heard.size();
  while (provider.heard.find(until, from) == std::string::npos) {
    std::array<char, 4096> piece{};
    const auto [error, size] = co_await socket.async_read_some(boost::asio::buffer(piece), kTuple);
    provider.heard.append(piece.data(), size);
    if (error) {
      provider.closed = true;
      co_return;
    }
  }
}
inline Async<void> say(tcp::socket& socket, std::string text) {
  co_await boost::asio::async_write(socket, boost::asio::buffer(text), kTuple);
}

inline Async<void> accept_all(Provided& provider, Play play) {
  while (true) {
    auto socket = std::make_unique<tcp::socket>(provider.acceptor.get_executor());
    const auto [error] = co_await provider.acceptor.async_accept(*socket, kTuple);
    if (error) co_return;
    ++provider.connections;
    const auto run = [](Provided& to, std::unique_ptr<tcp::socket> peer, Play how) -> Async<void> {
      co_await how(to, *peer);
    };
    provider.tasks.start(run(provider, std::move(socket), play));
  }
}

// Runs `work` beside the provider.
inline void beside_provider(Play play, std::function<Async<void>(Provided&)> work) {
  const auto all = [&]() -> Async<bool> {
    Provided provider(co_await boost::asio::this_coro::executor);
    provider.tasks.start(accept_all(provider, play));
    co_await work(provider);
    provider.tasks.cancel();
    co_return co_await provider.tasks.join(std::chrono::seconds(5));
  };
  EXPECT_TRUE(test::run_now(all()));
}

}  // namespace sallyport::agent
