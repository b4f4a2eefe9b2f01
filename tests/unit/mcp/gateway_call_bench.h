// Calls through whole gateways, and what the client and the server were told of them.
#pragma once

#include <algorithm>
#include <string>

#include "unit/mcp/gateway_bench.h"

namespace sallyport::mcp::test {

class GatewayCallBench : public GatewayTest {
 protected:
  void begin(const std::string& id, const std::string& params) {
    const std::size_t before = server_->times("tools/call");
    say(id, "tools/call", params);
    until([&] { return server_->times("tools/call") == before + 1; });
  }
  void progress(const std::string& params) {
    server_->notify(notification_text("notifications/progress", params));
    say(std::to_string(++round_), "ping", "{}");
    EXPECT_NE(answer_to(std::to_string(round_)), "");
  }
  std::string told(std::string_view method) const {
    std::string all;
    for (const std::string& text : client_->told) {
      if (find(text, {"method"}) != json_quoted(method)) continue;
      all += std::string(find(text, {"params"}).value_or("")) + " ";
    }
    return all;
  }
  void finish() { server_->reply(std::stoull(server_->last("tools/call").id), "{}"); }
  std::string record_at(std::string_view path) {
    return sallyport::test::text_at(governed_.recorder.records().back(), path);
  }
  bool server_heard(std::string_view text) const {
    return std::ranges::any_of(server_->told,
                               [&](const std::string& one) { return one.contains(text); });
  }

  int round_ = 1000;
};

}  // namespace sallyport::mcp::test
