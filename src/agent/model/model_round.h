// One request of a run to its model:
//
//   checked -> (attempted -> answered) -> committed -> recorded
//
// It makes the attempts and emits their events (EV-15..EV-17, EV-45..EV-47, EV-99..EV-104), runs
// the policy's checks on texts in both directions (RT-18), and writes one `model_audit` entry.
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

// A complete answer.
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
  std::optional<core::TextBlock> block{};  // with `error`: the check that blocked it
  bool answered = false;                   // with `block`: it was the answer, not the request
};

// Used once, on the executor of `parts`. All references must outlive it.
class ModelRound {
 public:
  struct Options {
    RetrySettings retry{};
    // Stores the message, and may give its calls other ids first. After an error the message is not
    // part of the history (EV-17). May be empty.
    std::function<Task<void>(ModelAnswer& answer)> commit{};
    std::function<void(std::string_view text)> on_text{};  // receives released text
  };
  ModelRound(RuntimeParts& parts, Model& model, RunControl& control, Asker asker, Options options);
  ModelRound(const ModelRound&) = delete;

  Async<std::expected<ModelAnswer, NoAnswer>> run(ModelRequest request);

 private:
  using Ended = std::optional<NoAnswer>;  // no value: continue

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
  Async<void> emit_response(bool success, std::optional<std::string> error);
  Async<void> emit(Event event);
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
