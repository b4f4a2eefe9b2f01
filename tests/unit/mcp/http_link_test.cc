#include "mcp/http_link.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <boost/asio/io_context.hpp>

#include "mcp/json_text.h"

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

}  // namespace
}  // namespace sallyport::mcp
