// Questions of a server during a call. A stateful server sends a request. A stateless server
// returns its questions as the result, and is called again. Each question is governed like a call.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "mcp/call/call_server.h"
#include "mcp/call/parked_calls.h"
#include "mcp/gateway_context.h"

namespace sallyport::mcp {

// Owned by a gateway and used on its strand.
class ServerQuestions final : public CallClient {
 public:
  ServerQuestions(const GatewayContext& context, ParkedCalls& parked)
      : context_(context), parked_(parked) {}

  // Governs a request of a server of sessions, and sends it to the client.
  Async<void> on_request(Message request);
  // The server withdraws a question.
  Async<void> take_back(Message notification);
  void stop_all();              // the gateway ends
  void stop_those_of_server();  // its process or session has ended

  // For a stateless server and a client of sessions.
  bool is_asked() const override { return context_.bridges(Era::Legacy, Era::Modern); }
  std::optional<Message> refusal(std::string_view questions, const Message& request) const override;
  Task<Given> ask(std::string method, std::string params, std::string about) override;
  void page_done(const std::string& page, const std::string& about) override;

 private:
  // A question that is being governed.
  struct Asking {
    std::stop_source stop{};
    std::uint64_t generation = 0;  // of the process that asks; 0: the server is stateless
    std::string why{};             // set if the server withdrew it: params of its notice, JSON text
    std::string about{};           // the client's request during which it is asked
  };
  using Shared = std::shared_ptr<Asking>;  // with the coroutine that governs it

  void decline(const Message& question);
  Async<void> answer_server(Message request, Shared asking);
  Async<std::string> govern(Message request, Shared asking);
  Task<Message> put_to_client(std::string frame, std::string method, std::string params,
                              Shared asking, std::stop_token cancel);

  const GatewayContext& context_;
  ParkedCalls& parked_;
  std::map<std::string, Shared> asking_;  // see `key_of`
};

// True if the client declared that it can answer this. `era` is that of the client.
bool may_be_asked(Era era, std::string_view method, std::string_view params,
                  const json::object& capabilities);
// The feature under which a request of a server is counted.
std::string_view feature_of(std::string_view method);
// The capability that a client must declare for this question.
json::object capability_for(std::string_view method, std::string_view params);
// A request of the server as a call of its own, in the client's session.
Call question_call(const GatewaySettings& settings, const CallParams& call_params);

}  // namespace sallyport::mcp
