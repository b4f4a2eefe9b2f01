// The two sides of a call that is forwarded, as the call sees them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/plan/call_rules.h"
#include "mcp/message/message.h"
#include "mcp/server/server.h"
#include "mcp/server/tool_definition.h"

namespace sallyport::mcp {

// The form of the params of a request.
enum class Words {
  OfClient,  // that of the client's era
  Own,       // ours, without the members for a stateless server
};

// The tool server. Used on its strand; a call keeps it alive (`ForwardedCall::Parts::keep`).
class CallServer {
 public:
  virtual ~CallServer() = default;
  virtual Server& link() = 0;
  // Returns once the server can be asked.
  virtual Task<void> wait_ready() = 0;
  // Returns the params of a request in the form of the server's era.
  virtual std::string params_for(std::string params, Words words) const = 0;
  virtual bool callable(const std::string& tool) const = 0;
  virtual const ToolDefinition* tool(const std::string& name) const = 0;  // null: not listed
  virtual core::UpstreamFacts facts(const std::string& tool) const = 0;
};

// The client that a stateless server asks before it continues a call.
class CallClient {
 public:
  virtual ~CallClient() = default;
  // True: the gateway asks the client. False: the client sees the questions in the result.
  virtual bool is_asked() const = 0;
  // Returns the answer to the client in place of these questions, if it did not declare that it can
  // answer them. `questions` is the server's result, `request` that of the client.
  virtual std::optional<Message> refusal(std::string_view questions,
                                         const Message& request) const = 0;
  struct Given {
    std::string result{};
    std::string page{};  // id of the page that a person agreed to visit, JSON text; empty: none
  };
  // Returns what the client gave. `about` is the id of its request.
  virtual Task<Given> ask(std::string method, std::string params, std::string about) = 0;
  // Notifies the client that a person has visited this page.
  virtual void page_done(const std::string& page, const std::string& about) = 0;
};

}  // namespace sallyport::mcp
