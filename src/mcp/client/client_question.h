// A request of a server to its client, which the Governor invokes. So the policy decides about it
// as about a call, the record has the request and the answer, and the answer passes the second door
// before the server sees it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/call/upstream.h"
#include "mcp/call/forwarded_call.h"
#include "mcp/message/given_answer.h"

namespace sallyport::mcp {

class ClientQuestion final : public core::Upstream {
 public:
  // Sends it to the client with these params, JSON text, and waits for the answer.
  using Ask = std::function<Task<Message>(std::string params, std::stop_token cancel)>;

  // `keep` owns what `ask` uses.
  ClientQuestion(Message request, CallParams call_params, Ask ask, std::shared_ptr<void> keep)
      : request_(std::move(request)),
        call_params_(std::move(call_params)),
        ask_(std::move(ask)),
        keep_(std::move(keep)) {}

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override;

  // The client's answer, if it came.
  const std::optional<GivenAnswer>& answer() const { return answer_; }

 private:
  Message request_;
  CallParams call_params_;
  Ask ask_;
  std::shared_ptr<void> keep_;  // an abandoned call outlives its gateway's run
  std::optional<GivenAnswer> answer_;
};

// A question that a stateless client is given in a result. The client brings its answer with
// another request.
class HandedQuestion final : public core::Upstream {
 public:
  HandedQuestion(Message request, CallParams call_params)
      : request_(std::move(request)), call_params_(std::move(call_params)) {}

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override;

  // The params for the client, JSON text; no value: the client may not be asked.
  const std::optional<std::string>& params() const { return params_; }

 private:
  Message request_;
  CallParams call_params_;
  std::optional<std::string> params_;
};

// The params of `elicitation/create` with the name of the server before its message: a person must
// see who asks.
std::string marked_form(std::string_view params, std::string_view server);

}  // namespace sallyport::mcp
