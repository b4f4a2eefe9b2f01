// Calls in messages of Anthropic: those that the client executes, and those that the provider has
// executed.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "llm/anthropic_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

// The input of a call must be an object; any other call is not handed out.
Result<ProposedCall> AnthropicAdapter::proposed(const Block& block) const {
  ProposedCall call{.type = block.type, .id = block.id, .name = block.tool};
  if (block.arguments.empty()) {
    call.input = block.input;
    call.raw_input = block.raw_input;
  } else {
    SALLYPORT_TRY(ParsedJson parsed, read_wire_json(block.arguments));
    call.input = std::move(parsed.value);
    if (!parsed.exact) call.raw_input = block.arguments;
  }
  if (!call.input.is_object()) {
    return sallyport::fail(ErrorCode::InvalidInput, "the input of a call is not an object");
  }
  return call;
}

// The input of a call is in its start or in its deltas. If both have one, that of the deltas is
// decided, and the other one does not leave.
Splice AnthropicAdapter::start_edits(const Block& block) {
  Splice edits;
  const bool plain =
      block.input.is_null() || (block.input.is_object() && block.input.get_object().empty());
  if (!block.arguments.empty() && !plain) edits.replace("/content_block/input", "{}");
  return edits;
}

Task<void> AnthropicAdapter::settle_waiting(const json::value& next, EventSink& out) {
  Block block = std::move(*waiting_);
  waiting_.reset();
  const json::value* const delta = member_of(next, "delta");
  const std::string_view reason =
      delta == nullptr ? std::string_view() : text_in(*delta, "stop_reason");
  const bool cut = reason == "max_tokens" || reason == "model_context_window_exceeded";
  co_return co_await settle(std::move(block), cut, out);
}

Task<void> AnthropicAdapter::settle(Block block, bool cut, EventSink& out) {
  Result<ProposedCall> call = proposed(block);
  if (!call || cut) {
    const std::string notice = door_->drop(
        block.id, block.tool,
        cut ? "an output limit cut its arguments" : "its arguments are not a JSON object");
    note_change(notice);
    send_block(notice, out);
    co_return Result<void>{};
  }
  const CallRuling ruling = co_await door_->decide(std::move(*call));
  switch (ruling.kind) {
    case CallRuling::Kind::Pass:
      send_held(block, out);
      ++calls_sent_;
      break;
    case CallRuling::Kind::Rewrite:
      rewrite_call(block, ruling.input, out);
      ++calls_sent_;
      note_change({});
      break;
    case CallRuling::Kind::Refuse:
      send_block(ruling.notice, out);
      ++calls_refused_;
      note_change(ruling.notice);
      break;
  }
  co_return Result<void>{};
}

void AnthropicAdapter::rewrite_call(Block& block, const json::value& input, EventSink& out) {
  Splice edits;
  edits.replace("/content_block/input", "{}");
  start(block, block.held.front().name, block.held.front().data, std::move(edits), out);
  const std::string arguments = canonical_json(input);
  out.event("content_block_delta",
            fmt::format(R"({{"type":"content_block_delta","index":{},"delta":)"
                        R"({{"type":"input_json_delta","partial_json":{}}}}})",
                        block.sent_index, json_string(arguments)));
  send(block, block.held.back().name, block.held.back().data, {}, out);
}

// Mode `observe`: the call has left unchanged and is only recorded.
Async<void> AnthropicAdapter::record_call(Block block) {
  Result<ProposedCall> call = proposed(block);
  if (!call) {
    call = ProposedCall{.type = block.type, .id = block.id, .name = block.tool};
    call->input = block.arguments;
  }
  (void)co_await door_->decide(std::move(*call));
}

// The input is complete. Each string of it is checked as a separate text (MP-37).
void AnthropicAdapter::release_provider_call(Block& block, EventSink& out) {
  const ChannelId channel{.kind = ChannelKind::ProviderCall, .item = block.index};
  const bool in_start = block.arguments.empty();
  const Result<ParsedJson> parsed = in_start ? Result<ParsedJson>(ParsedJson{.value = block.input})
                                             : read_wire_json(block.arguments);
  CheckedLeaves checked;
  std::string arguments;
  if (parsed) {
    checked = check_leaves(*door_, channel, parsed->value, in_start ? "/content_block/input" : "",
                           Leaves::Payload);
    arguments = checked.edits.applied(block.arguments);
  } else {
    core::PassedText passed = door_->whole(channel, block.arguments);
    checked.block = std::move(passed.block);
    arguments = passed.text();
  }
  if (checked.block) return end_blocked(*checked.block, out);
  if (!block.holds) return;
  if (checked.edits.empty() && arguments == block.arguments) return send_held(block, out);
  note_change({});
  start(block, block.held.front().name, block.held.front().data,
        in_start ? std::move(checked.edits) : start_edits(block), out);
  if (!in_start) {
    out.event("content_block_delta",
              fmt::format(R"({{"type":"content_block_delta","index":{},"delta":)"
                          R"({{"type":"input_json_delta","partial_json":{}}}}})",
                          block.sent_index, json_string(arguments)));
  }
  send(block, block.held.back().name, block.held.back().data, {}, out);
}

}  // namespace sallyport::llm
