// One call that is forwarded to the server. The Governor invokes it, and it holds the server's
// unchanged answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/call/upstream.h"
#include "mcp/call/call_server.h"
#include "mcp/call/task_owners.h"
#include "mcp/message/given_answer.h"
#include "mcp/server/inbox.h"
#include "net/quota.h"

namespace sallyport::mcp {

// The content of a governed request, without its protocol members.
struct CallParams {
  std::string tool;                        // of `tools/call`, else the method
  json::value input;                       // the arguments, else the params without `_meta`
  std::optional<std::string> raw_input{};  // where a double cannot hold one of its numbers
};
// `InvalidInput`: it is not such a request.
Result<CallParams> read_call_params(const Message& request);
// Equal for identical calls under the same grants. Protocol members do not count.
std::string identity_of(const Message& request, const CallParams& call_params,
                        const std::vector<std::string>& grants);
// The id of the task that a request names; empty: none.
std::string task_named_by(const Message& request);
// The params with the input of the decided call; everything else keeps its bytes.
std::string decided_params(const Message& request, const CallParams& call_params,
                           const Call& decided);

class ForwardedCall final : public core::Upstream {
 public:
  struct Parts {
    CallServer& server;
    CallClient* client = nullptr;        // null: there is none to ask
    const TaskOwners* owners = nullptr;  // of the task that the request is about
    Words words = Words::OfClient;
    const Clock* clock = nullptr;  // set if the time of the server is measured
    std::shared_ptr<void> keep{};  // owns the above; an abandoned call outlives its client
    net::Quota::Share held{};      // memory of the request and its answer, as long as they are kept
  };
  ForwardedCall(Parts parts, Message request, CallParams call_params, std::shared_ptr<Inbox> inbox);

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override;
  bool known() const override;
  bool raises_caution() const override;
  std::string definition() const override;
  core::UpstreamFacts facts() const override { return parts_.server.facts(call_params_.tool); }
  ToolResult result_of(const Envelope& released) const override;

  const Message& request() const { return request_; }
  const CallParams& call_params() const { return call_params_; }
  Inbox& inbox() { return *inbox_; }
  void give_reason(std::string reason) { reason_ = std::move(reason); }  // of a cancel, JSON text

  // When the server was asked, and when it was done; none: it was not asked.
  struct Span {
    SteadyTime begin{};
    std::optional<SteadyTime> end{};
  };
  const std::optional<Span>& span() const { return span_; }

  // The server's answer, if it came, and the interim message that is being checked.
  const std::optional<GivenAnswer>& answer() const { return answer_; }
  const std::optional<Message>& interim() const { return interim_; }

 private:
  const ToolDefinition* tool() const;
  std::string text_for(const Call& call) const;
  Task<Envelope> converse(Call call, std::shared_ptr<core::Delivery> delivery,
                          std::stop_token cancel);
  Task<Response> exchange(std::string text, std::shared_ptr<core::Delivery> delivery,
                          std::stop_token cancel);
  Task<std::string> answers_to(std::string questions);
  void note_end(const Response& reply) const;
  Envelope envelope_of(Response reply);

  Parts parts_;
  Message request_;
  CallParams call_params_;
  std::shared_ptr<Inbox> inbox_;  // shared with the server, which fills it
  std::string reason_;
  std::vector<std::string> pages_;  // that a person agreed to visit in this call
  std::optional<Span> span_;
  std::optional<GivenAnswer> answer_;
  std::optional<Message> interim_;
};

}  // namespace sallyport::mcp
