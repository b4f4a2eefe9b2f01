#include <fmt/format.h>

#include <algorithm>

#include "agent/model/answer_reader.h"
#include "agent/model/model.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kMostCalls = 256;

}  // namespace

ModelResult<void> MessageBuilder::add(const ModelEvent& event) {
  if (const auto* const text = std::get_if<TextDelta>(&event)) {
    bytes_ += text->text.size();
    text_ += text->text;
  } else if (const auto* const call = std::get_if<CallDelta>(&event)) {
    if (auto added = add_call(*call); !added) return added;
  } else if (const auto* const report = std::get_if<UsageReport>(&event)) {
    usage_ = report->usage;
  } else if (const auto* const stop = std::get_if<StopReport>(&event)) {
    stop_reason_ = stop->reason;
    at_limit_ = stop->at_limit;
  }
  if (bytes_ > kLargestAnswer) return malformed_stream("the message is over 16 MiB");
  return {};
}

ModelResult<void> MessageBuilder::add_call(const CallDelta& delta) {
  bytes_ += delta.id.size() + delta.name.size() + delta.arguments.size();
  const auto place = std::ranges::lower_bound(indexes_, delta.index);
  const auto at = place - indexes_.begin();
  if (place == indexes_.end() || *place != delta.index) {
    if (delta.name.empty() && delta.id.empty()) {
      return malformed_stream(fmt::format("a fragment of call {}, which never began", delta.index));
    }
    if (delta.id.empty()) return malformed_stream(fmt::format("call {} has no id", delta.index));
    if (delta.name.empty())
      return malformed_stream(fmt::format("call {} has no name", delta.index));
    if (calls_.size() == kMostCalls) return malformed_stream("the message has over 256 tool calls");
    if (std::ranges::find(calls_, delta.id, &ModelCall::id) != calls_.end()) {
      return malformed_stream(fmt::format("two tool calls have the id `{:.80}`", delta.id));
    }
    indexes_.insert(place, delta.index);
    calls_.insert(calls_.begin() + at, {delta.id, delta.name, delta.arguments});
    return {};
  }
  ModelCall& call = calls_[static_cast<std::size_t>(at)];
  // Some servers repeat id and name with every fragment.
  if (!delta.id.empty() && delta.id != call.id) {
    return malformed_stream(fmt::format("call {} changes its id", delta.index));
  }
  if (!delta.name.empty() && delta.name != call.name) {
    if (!call.arguments.empty()) {
      return malformed_stream(fmt::format("call {} changes its name", delta.index));
    }
    call.name += delta.name;
  }
  call.arguments += delta.arguments;
  return {};
}

}  // namespace sallyport::agent
