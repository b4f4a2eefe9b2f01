// Translates answers for the client into the form of its era.
#pragma once

#include <string>
#include <string_view>

#include "mcp/gateway_context.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class AnswerBridge {
 public:
  explicit AnswerBridge(const GatewayContext& context) : context_(context) {}

  // The answer to a request of this method, the whole message.
  std::string translated(std::string_view method, std::string text) const;
  // The answer to `server/discover` at a server of sessions; `opening` is its own answer.
  std::string discovery(std::string_view opening) const;

 private:
  std::string result(std::string_view method, std::string_view result) const;
  std::string with_our_tasks(std::string discovery) const;

  const GatewayContext& context_;
};

}  // namespace sallyport::mcp
