#include "agent/run/run_control.h"

#include <fmt/format.h>

namespace sallyport::agent {

using core::AbortCause;

namespace {

void add_to(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

}  // namespace

RunControl::RunControl(const LimitSettings& limits, const Clock& clock,
                       const boost::asio::any_io_executor& executor, std::stop_token cancel)
    : limits_(limits),
      clock_(clock),
      deadline_(clock.steady() + limits.deadline),
      timer_(executor, limits.deadline),
      on_cancel_(std::move(cancel), OnCancel{*this}) {
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) (void)ended();
  });
}

void RunControl::end(AbortCause cause, std::string detail) {
  abort_.with([&](std::optional<Abort>& abort) {
    if (!abort) abort = Abort{cause, std::move(detail)};
  });
  stop_.request_stop();
}

std::optional<Abort> RunControl::ended() {
  if (clock_.steady() >= deadline_) {
    end(AbortCause::DeadlineExceeded, fmt::format("{} s for the run", limits_.deadline.count()));
  }
  return abort_.with([](const std::optional<Abort>& abort) { return abort; });
}

bool RunControl::outlasts(std::chrono::milliseconds wait) const {
  return clock_.steady() + wait >= deadline_;
}

std::optional<Abort> RunControl::take_attempt() {
  if (std::optional<Abort> abort = ended()) return abort;
  if (attempts_ >= limits_.model_requests) {
    return Abort{AbortCause::ModelBudgetExceeded,
                 fmt::format("{} requests to the model", limits_.model_requests)};
  }
  ++attempts_;
  return std::nullopt;
}

bool RunControl::take_call() {
  if (calls_ >= limits_.tool_calls) return false;
  ++calls_;
  return true;
}

void RunControl::add(const Usage& usage) {
  add_to(usage_.input_tokens, usage.input_tokens);
  add_to(usage_.output_tokens, usage.output_tokens);
  add_to(usage_.total_tokens, usage.total_tokens);
  add_to(usage_.cache_read_input_tokens, usage.cache_read_input_tokens);
  add_to(usage_.cache_creation_input_tokens, usage.cache_creation_input_tokens);
  add_to(usage_.reasoning_tokens, usage.reasoning_tokens);
  add_to(usage_.thoughts_tokens, usage.thoughts_tokens);
  add_to(usage_.tool_input_tokens, usage.tool_input_tokens);
  tokens_ +=
      usage.total_tokens.value_or(usage.input_tokens.value_or(0) + usage.output_tokens.value_or(0));
}

Abort RunControl::over_calls() const {
  return {AbortCause::ToolBudgetExceeded, fmt::format("{} tool calls", limits_.tool_calls)};
}

Abort RunControl::over_tokens() const {
  return {AbortCause::TokenBudgetExceeded, fmt::format("{} tokens", limits_.tokens)};
}

}  // namespace sallyport::agent
