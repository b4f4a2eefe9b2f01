#include "proxy/client_stream.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace sallyport::proxy {
namespace {

class Reader final : public net::ServerExchange {
 public:
  const net::ServerRequest& request() const override { return request_; }
  void on_gone(std::function<void()>) override {}
  bool gone() const override { return false; }
  Async<bool> respond(net::ServerResponse) override { co_return true; }
  Async<bool> begin(net::ServerResponse) override { co_return true; }
  bool streaming() const override { return true; }
  Async<bool> write(std::string piece) override {
    read += piece;
    co_return true;
  }

  std::string read;

 private:
  net::ServerRequest request_;
};

// Only the first pause was once filled, because the adapter has nothing to repeat.
// MP-15
TEST(ClientStreamTest, EachPauseBeforeTheFirstEventHasAComment) {
  boost::asio::io_context loop;
  Reader reader;
  ClientStream stream(reader, loop.get_executor(), {}, [] {}, std::chrono::milliseconds(1));
  while (reader.read.size() < 9 && loop.run_one() > 0) {
  }
  EXPECT_EQ(reader.read.substr(0, 9), ":\n\n:\n\n:\n\n");
  boost::asio::co_spawn(loop, stream.drain(), boost::asio::detached);
  loop.run();
}

}  // namespace
}  // namespace sallyport::proxy
