#include "mcp/client/http_link.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <boost/asio/io_context.hpp>

#include "mcp/message/json_text.h"

namespace sallyport::mcp {
namespace {

std::size_t allocated() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// The requests of a batch came in one body, which none of them needs while it waits.
TEST(HttpLinkTest, RequestsThatWaitKeepNoBody) {
  for (const bool shared : {false, true}) {
    boost::asio::io_context loop;
    HttpLink link(loop.get_executor(), {.shared = shared});
    net::ServerRequest head{.method = "POST"};
    head.headers.emplace_back("mcp-method", "ping");
    head.body = std::string(4u << 20, 'x');
    const std::size_t before = allocated();
    for (int i = 0; i < 16; ++i) {
      ASSERT_TRUE(link.ask(*Message::read(request_text(std::to_string(i), "ping", ""), {}), head));
    }
    EXPECT_LT(allocated() - before, 4u << 20) << shared;
  }
}

// Answers that nobody has read are as long as tools make them.
TEST(HttpLinkTest, AnswersForWhoComesBackAreKeptUpToALimitTheNewestFirst) {
  boost::asio::io_context loop;
  HttpLink link(loop.get_executor(),
                {.outlet = {.kept_events = 8, .kept_bytes = 100}, .kept_bytes = 2500});
  for (int i = 1; i <= 4; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(link.ask(*Message::read(request_text(id, "ping", ""), {}), {}));
    EXPECT_TRUE(link.send(result_text(id, '"' + std::string(1000, 'x') + '"'), {}));
  }
  EXPECT_EQ(link.stream(2), nullptr);
  EXPECT_NE(link.stream(3), nullptr);
  EXPECT_NE(link.stream(4), nullptr);
  ASSERT_TRUE(link.ask(*Message::read(request_text("5", "ping", ""), {}), {}));
  EXPECT_TRUE(link.send(result_text("5", '"' + std::string(9000, 'x') + '"'), {}));
  EXPECT_EQ(link.stream(4), nullptr);
  EXPECT_NE(link.stream(5), nullptr);
}

}  // namespace
}  // namespace sallyport::mcp
