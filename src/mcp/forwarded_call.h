// One call on its way to the server: what the Governor invokes, and what the server gave, as it
// came.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/call/upstream.h"
#include "mcp/given_answer.h"
#include "mcp/inbox.h"
#include "mcp/server.h"
#include "net/quota.h"

namespace sallyport::mcp {

// A request that is governed: what it asks for, apart from how the protocol wraps it.
struct Asked {
  std::string tool;                        // of `tools/call`, else the method
  json::value input;                       // the arguments, else the params without `_meta`
  std::optional<std::string> raw_input{};  // where a double cannot hold one of its numbers
};
// `InvalidInput`: it is no such request.
Result<Asked> read_asked(const Message& request);
// The same for identical calls under the same grants, whatever the protocol wraps them in.
std::string identity_of(const Message& request, const Asked& asked,
                        const std::vector<std::string>& grants);
// The params with another input; everything else stays as it came.
std::string params_with_input(const Message& request, std::string_view input);

class ForwardedCall final : public core::Upstream {
 public:
  struct Means {
    Server& server;
    std::function<Task<void>()> ready;  // returns once the server can be asked
    std::function<std::string(std::string params)> to_server{};  // what it must be told beside
    std::function<bool(const std::string& tool)> known{};        // none: all are
    std::function<bool(const std::string& tool)> cautious{};
    std::function<std::string(const std::string& tool)> definition{};  // digest of what it says
    std::function<core::UpstreamFacts(const std::string& tool)> facts{};
    // True: the client is asked here what the server wants to know; else it sees for itself.
    std::function<bool()> asks_client{};
    std::function<Task<std::string>(std::string method, std::string params)> ask{};
    const Clock* clock = nullptr;  // where it is to be told how long the server took
    std::shared_ptr<void> keep{};  // whatever the above needs to be there
    net::Quota::Share held{};      // memory of the request and its answer, as long as they are kept
  };
  ForwardedCall(Means means, Message request, Asked asked, std::shared_ptr<Inbox> inbox);

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override;
  bool known() const override;
  bool raises_caution() const override { return means_.cautious && means_.cautious(asked_.tool); }
  std::string definition() const override {
    return means_.definition ? means_.definition(asked_.tool) : std::string();
  }
  core::UpstreamFacts facts() const override {
    return means_.facts ? means_.facts(asked_.tool) : core::UpstreamFacts();
  }
  ToolResult result_of(const Envelope& released) const override;

  const Message& request() const { return request_; }
  Inbox& inbox() { return *inbox_; }
  void give_reason(std::string reason) { reason_ = std::move(reason); }  // of a cancel, JSON text

  // When the server was asked, and when it was done; none: it was not asked.
  struct Span {
    SteadyTime begin{};
    std::optional<SteadyTime> end{};
  };
  const std::optional<Span>& span() const { return span_; }

  // What the server said, if it did; and the message on the way that is being looked at.
  const std::optional<GivenAnswer>& answer() const { return answer_; }
  const std::optional<Message>& on_the_way() const { return on_the_way_; }

 private:
  std::string text_for(const Call& call) const;
  Task<Envelope> converse(Call call, std::shared_ptr<core::Delivery> delivery,
                          std::stop_token cancel);
  Task<Reply> exchange(std::string text, std::shared_ptr<core::Delivery> delivery,
                       std::stop_token cancel);
  Task<std::string> answers_to(std::string questions);
  Envelope envelope_of(Reply reply);

  Means means_;
  Message request_;
  Asked asked_;
  std::shared_ptr<Inbox> inbox_;  // shared with the server, which fills it
  std::string reason_;
  std::optional<Span> span_;
  std::optional<GivenAnswer> answer_;
  std::optional<Message> on_the_way_;
};

}  // namespace sallyport::mcp
