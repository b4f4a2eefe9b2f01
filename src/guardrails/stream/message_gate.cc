#include "guardrails/stream/message_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/try.h"
#include "guardrails/stream/open_gate.h"

namespace sallyport::guardrails {

using State = MessageCall::State;

std::string_view to_string(Channel channel) {
  return channel == Channel::Text ? "text" : "reasoning";
}

std::string_view to_string(State state) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"open", "ready", "refused", "started", "dropped"});
  static_assert(kNames.size() == static_cast<std::size_t>(State::Dropped) + 1);
  return kNames[static_cast<std::size_t>(state)];
}

MessageGate::MessageGate(std::shared_ptr<const Guardrails> guardrails)
    : guardrails_(std::move(guardrails)) {}

MessageGate::~MessageGate() = default;

TextGate& MessageGate::gate(Channel channel) {
  std::unique_ptr<TextGate>& gate = gates_[static_cast<std::size_t>(channel)];
  if (!gate) gate = guardrails_->arm(Stage::Output, std::nullopt);
  if (!gate) gate = open_gate();
  return *gate;
}

const TextGate* MessageGate::find(Channel channel) const {
  return gates_[static_cast<std::size_t>(channel)].get();
}

Result<Passed> MessageGate::push(Channel channel, std::string_view delta) {
  if (blocked_on_) return Passed{};
  return end_if_blocked(channel, gate(channel).push(delta));
}

Result<Passed> MessageGate::finish(Channel channel) {
  if (blocked_on_) return Passed{};
  return end_if_blocked(channel, gate(channel).finish());
}

Result<Passed> MessageGate::end_if_blocked(Channel channel, Result<Passed> passed) {
  if (!passed || !passed->block) return passed;
  blocked_on_ = channel;
  for (MessageCall& call : calls_) {
    if (call.state == State::Open || call.state == State::Ready) call.state = State::Dropped;
  }
  for (Arguments& arguments : arguments_) arguments = {};
  return passed;
}

Result<std::size_t> MessageGate::known(const std::string& id) const {
  const auto found = places_.find(id);
  if (found != places_.end()) return found->second;
  return fail(ErrorCode::NotFound, fmt::format("the message has no call `{}`", id));
}

Result<void> MessageGate::open_call(const std::string& id, std::string_view tool) {
  if (calls_.size() >= kMostCalls) {
    return fail(ErrorCode::Exhausted,
                fmt::format("a message has at most {} tool calls", kMostCalls));
  }
  if (!places_.emplace(id, calls_.size()).second) {
    return fail(ErrorCode::Conflict, fmt::format("the message has a call `{}` already", id));
  }
  const std::vector<Coverage> coverage = guardrails_->coverage_of_stream(Stage::ToolUse, tool);
  const bool looks =
      std::ranges::any_of(coverage, [](const Coverage& check) { return !check.skipped; });
  calls_.push_back({id, std::string(tool), blocked_on_ ? State::Dropped : State::Open});
  arguments_.push_back({.kept = looks});
  return {};
}

Result<std::string> MessageGate::push_arguments(const std::string& id, std::string_view delta) {
  SALLYPORT_TRY(const std::size_t place, known(id));
  State& state = calls_[place].state;
  if (blocked_on_ || state == State::Refused) return std::string();
  if (state != State::Open) {
    return fail(ErrorCode::Conflict, fmt::format("the arguments of `{}` are complete", id));
  }
  if (!arguments_[place].kept) return std::string(delta);
  if (delta.size() > kMostArgumentBytes - argument_bytes_) {
    state = State::Refused;
    argument_bytes_ -= std::exchange(arguments_[place].text, {}).size();
    return fail(ErrorCode::Exhausted, fmt::format("the arguments of a message's calls are over {} "
                                                  "bytes; call `{}` is refused",
                                                  kMostArgumentBytes, id));
  }
  argument_bytes_ += delta.size();
  arguments_[place].text += delta;
  return std::string();
}

Result<CallDecision> MessageGate::close_call(const std::string& id) {
  SALLYPORT_TRY(const std::size_t place, known(id));
  State& state = calls_[place].state;
  if (blocked_on_ || state == State::Refused) return CallDecision{};
  if (state != State::Open) {
    return fail(ErrorCode::Conflict, fmt::format("call `{}` is decided already", id));
  }
  state = State::Refused;  // until something says otherwise
  if (arguments_[place].kept) return decide(place);
  state = State::Ready;
  return CallDecision{.arguments = ""};
}

Result<CallDecision> MessageGate::decide(std::size_t place) {
  const std::string text = std::exchange(arguments_[place].text, {});
  argument_bytes_ -= text.size();
  ParsedJson arguments{.value = json::object{}};
  if (!text.empty()) {
    SALLYPORT_TRY(arguments, parse_json(text, {.bytes = kMostArgumentBytes}));
  }
  CallDecision decision;
  decision.seen = guardrails_->evaluate({.stage = Stage::ToolUse,
                                         .value = &arguments.value,
                                         .received = arguments.exact ? std::string_view() : text,
                                         .tool = std::string_view(calls_[place].tool)});
  const bool redacted = decision.seen.verdict == Verdict::Redact;
  // A redaction would also change numbers that only the received text holds.
  if (decision.seen.verdict == Verdict::Block || (redacted && !arguments.exact)) return decision;
  decision.arguments = redacted ? *decision.seen.text : text;
  calls_[place].state = State::Ready;
  return decision;
}

Result<bool> MessageGate::start_call(const std::string& id) {
  SALLYPORT_TRY(const std::size_t place, known(id));
  State& state = calls_[place].state;
  if (state != State::Ready) return false;
  state = State::Started;
  return true;
}

bool MessageGate::armed() const {
  return guardrails_->armed(Stage::Output);
}

std::vector<Coverage> MessageGate::coverage(Channel channel) const {
  const TextGate* const gate = find(channel);
  if (gate != nullptr && armed()) return gate->coverage();
  return guardrails_->coverage_of_stream(Stage::Output, std::nullopt);
}

std::uint64_t MessageGate::bytes_in(Channel channel) const {
  const TextGate* const gate = find(channel);
  return gate == nullptr ? 0 : gate->bytes_in();
}

std::uint64_t MessageGate::held(Channel channel) const {
  const TextGate* const gate = find(channel);
  return gate == nullptr || blocked_on_ ? 0 : gate->held();
}

std::uint64_t MessageGate::invalid_utf8(Channel channel) const {
  const TextGate* const gate = find(channel);
  return gate == nullptr ? 0 : gate->invalid_utf8();
}

}  // namespace sallyport::guardrails
