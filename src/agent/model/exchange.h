// One request of a run to its model:
//
//   checked -> (attempted -> answered) -> committed -> recorded
//
// Attempts and their events (EV-15..EV-17, EV-45..EV-47, EV-99..EV-104), the policy's checks of
// texts in both directions (RT-18), and one entry of kind `model_audit`, however it ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.h"
#include "agent/run/asker.h"
#include "agent/run/run_control.h"
#include "agent/run/runtime_parts.h"
#include "proxy/record.h"
#include "sallyport/retry.h"

namespace sallyport::agent {

// An answer that ended properly.
struct ModelAnswer {
  std::string text{};
  std::vector<ModelCall> calls{};
  Usage usage{};  // as reported, or estimated where the provider reports none
  std::string stop_reason{};
  bool at_limit = false;
};

// Why there is no answer. Exactly one of `abort` and `error` says how the run ends.
struct NoAnswer {
  std::optional<Abort> abort{};
  std::optional<RuntimeError> error{};
  std::optional<core::TextBlock> block{};  // with `error`: a check of the policy withholds it
};

// Used once. On the executor of `parts`; all references outlive it.
class ModelExchange {
 public:
  struct Options {
    RetrySettings retry{};
    // Makes the message durable; an error leaves it out of history (EV-17). Empty: nothing to do.
    std::function<Task<void>(const ModelAnswer& answer)> commit{};
    std::function<void(std::string_view text)> on_text{};  // as the checks release it
  };
  ModelExchange(RuntimeParts& parts, Model& model, RunControl& control, Asker asker,
                Options options);
  ModelExchange(const ModelExchange&) = delete;

  Async<std::expected<ModelAnswer, NoAnswer>> run(ModelRequest request);

 private:
  using Ended = std::optional<NoAnswer>;  // no value: it goes on

  Async<Ended> check_request(ModelRequest& request);
  Ended reserve(const ModelRequest& request);
  Async<Ended> open(ModelRequest& request);
  Async<Ended> announce();
  Async<Ended> after_failed_attempt(const ProviderError& error);
  Async<Ended> read();
  std::optional<core::TextBlock> take_text(core::PassedText passed);
  Async<Ended> commit();
  Async<NoAnswer> refuse(core::TextBlock block);
  Ended failed(RuntimeError::Kind kind, const ProviderError& error) const;
  Async<void> conclude(const Ended& ended);
  Async<void> tell_response(bool success, std::optional<std::string> error);
  Async<void> tell(Event event);
  void add_findings(std::vector<Finding> findings, std::string_view channel);
  void estimate_usage();
  std::string without_key(std::string text) const;

  RuntimeParts& parts_;
  Model& model_;
  RunControl& control_;
  Options options_;
  std::shared_ptr<const core::Plan> plan_;  // pinned for the whole request
  proxy::ModelRecord record_;
  SteadyTime started_;
  std::vector<core::Draft> findings_;
  std::shared_ptr<const core::FactChange> reservation_;  // travels with the first attempt
  bool reserved_ = false;
  std::uint64_t input_tokens_ = 0;  // an estimate
  std::unique_ptr<ModelStream> stream_;
  MessageBuilder builder_;
  ModelAnswer answer_;
  bool opened_ = false;
};

}  // namespace sallyport::agent
