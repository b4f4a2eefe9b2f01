// Content blocks of messages of Anthropic.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "llm/anthropic_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

constexpr std::size_t kSignedBlock = std::size_t{1024} * 1024;     // MP-48
constexpr std::size_t kArguments = std::size_t{16} * 1024 * 1024;  // MP-78
constexpr std::size_t kCalls = 1024;                               // MP-78
constexpr std::size_t kOpenBlocks = 1024;
// Small deltas cost more than their text. Over this size, held deltas are joined.
constexpr std::size_t kHeldApart = std::size_t{1024} * 1024;
constexpr std::size_t kHeld = std::size_t{32} * 1024 * 1024;

std::unexpected<Error> over(std::string what) {
  return sallyport::fail(ErrorCode::Exhausted, std::move(what));
}

// The member with the text of a delta, by type of the delta.
std::string_view piece_member(std::string_view delta_type) {
  if (delta_type == "input_json_delta") return "partial_json";
  if (delta_type == "thinking_delta") return "thinking";
  return {};
}

}  // namespace

AnthropicAdapter::TextPlace AnthropicAdapter::place_of(const Block& block) {
  if (block.kind == Block::Kind::Text) return {"text", "text_delta", ChannelKind::Text};
  return {"thinking", "thinking_delta", ChannelKind::Reasoning};
}

// Sending and holding

void AnthropicAdapter::send(const Block& block, std::string_view name, std::string_view data,
                            Splice edits, EventSink& out) {
  if (block.sent_index != block.index) edits.replace("/index", fmt::to_string(block.sent_index));
  if (edits.empty()) return out.event(name, data);
  out.event(name, edits.applied(data));
}

void AnthropicAdapter::start(Block& block, std::string_view name, std::string_view data,
                             Splice edits, EventSink& out) {
  block.sent_index = next_index_++;
  block.begun = true;
  send(block, name, data, std::move(edits), out);
}

void AnthropicAdapter::send_text(const Block& block, std::string_view text, EventSink& out) {
  const TextPlace place = place_of(block);
  out.event("content_block_delta",
            fmt::format(R"({{"type":"content_block_delta","index":{},"delta":)"
                        R"({{"type":"{}","{}":{}}}}})",
                        block.sent_index, place.delta, place.member, json_string(text)));
}

// A text block that the provider did not send.
void AnthropicAdapter::send_block(std::string_view text, EventSink& out) {
  Block block{.kind = Block::Kind::Text};
  block.sent_index = next_index_++;
  out.event("content_block_start",
            fmt::format(R"({{"type":"content_block_start","index":{},"content_block":)"
                        R"({{"type":"text","text":""}}}})",
                        block.sent_index));
  send_text(block, text, out);
  out.event("content_block_stop",
            fmt::format(R"({{"type":"content_block_stop","index":{}}})", block.sent_index));
}

Result<void> AnthropicAdapter::hold(Block& block, const Event& event, std::string_view text,
                                    std::size_t limit) {
  const json::object& members = event.value.get_object();
  const json::object* const delta = object_in(event.value, "delta");
  const bool plain = delta != nullptr && delta->size() == 2 && members.size() == 3 &&
                     !piece_member(text_in(event.value.at("delta"), "type")).empty();
  if (plain && block.held_bytes > kHeldApart && block.held.back().data.size() < kHeldApart &&
      block.held.back().name == event.name) {
    Held& last = block.held.back();
    if (value_at(last.data, "/delta/type") == value_at(event.data, "/delta/type")) {
      last.more += text;
      return {};
    }
  }
  block.held_bytes += event.data.size();
  if (block.held_bytes > std::max(kHeld, limit)) return over("a held block is over its limit");
  block.held.push_back({std::string(event.name), std::string(event.data)});
  return {};
}

void AnthropicAdapter::send_held(Block& block, EventSink& out) {
  for (const Held& held : block.held) {
    if (!block.begun) {
      start(block, held.name, held.data, start_edits(block), out);
      continue;
    }
    Splice edits;
    if (!held.more.empty()) {
      const Result<ParsedJson> event = read_wire_json(held.data);
      const json::value& delta = event->value.at("delta");
      const std::string_view member = piece_member(text_in(delta, "type"));
      edits.replace(pointer_to("/delta", member),
                    json_string(std::string(text_in(delta, member)) + held.more));
    }
    send(block, held.name, held.data, std::move(edits), out);
  }
  block.held.clear();
}

// Starts

Result<void> AnthropicAdapter::start_block(const Event& event, EventSink& out) {
  const auto index = count_in(event.value, "index");
  const json::object* const content = object_in(event.value, "content_block");
  // Each block needs a new index, so that an ended channel does not begin again.
  if (!index || content == nullptr || *index < least_index_) {
    return sallyport::fail(ErrorCode::Corrupt, "a content block of the provider begins wrongly");
  }
  if (blocks_.size() >= kOpenBlocks) return over("a message has too many open blocks");
  least_index_ = *index + 1;
  Block& block = blocks_[*index];
  block.index = *index;
  block.type = text_in(event.value.at("content_block"), "type");
  if (block.type == "text") {
    block.kind = Block::Kind::Text;
    start_text(block, event, out);
  } else if (block.type == "thinking" || block.type == "compaction") {
    block.kind = Block::Kind::Reasoning;
    block.holds = door_->enforces_output() || changed_;
    return take_reasoning_delta(block, event, out);
  } else if (block.type == "tool_use") {
    block.kind = Block::Kind::Call;
    block.holds = door_->holds_calls();
    return start_call(block, event, out);
  } else if (block.type == "server_tool_use" || block.type == "mcp_tool_use") {
    block.kind = Block::Kind::ProviderCall;
    block.holds = door_->enforces_output();
    return start_call(block, event, out);
  } else if (block.type.ends_with("_tool_result")) {
    start_result(block, event, out);
  } else if (block.type == "redacted_thinking") {
    start(block, event.name, event.data, {}, out);
  } else {
    start_unknown(block, event, out);
  }
  return {};
}

void AnthropicAdapter::start_text(Block& block, const Event& event, EventSink& out) {
  if (settings_.json_format && door_->enforces_output()) block.strings.emplace();
  Splice edits;
  const json::value& content = event.value.at("content_block");
  if (const json::array* const citations = array_in(content, "citations")) {
    for (std::size_t i = 0; i < citations->size(); ++i) {
      CheckedLeaves checked =
          check_leaves(*door_, {.kind = ChannelKind::Whole, .item = block.index}, (*citations)[i],
                       pointer_to("/content_block/citations", i), Leaves::Known);
      if (checked.block) {
        // As with a citation in a delta: the text has begun, and this citation is left out.
        for (; i < citations->size(); ++i) {
          edits.remove(pointer_to("/content_block/citations", i));
        }
        edits.replace("/content_block/text", "\"\"");
        start(block, event.name, event.data, std::move(edits), out);
        return end_blocked(*checked.block, out);
      }
      if (!checked.edits.empty()) note_change({});
      edits.add(std::move(checked.edits));
    }
  }
  const std::string_view text = text_in(content, "text");
  const core::PassedText passed = push(block, text);
  const std::string leaves = passed.text();
  if (leaves != text) edits.replace("/content_block/text", json_string(leaves));
  start(block, event.name, event.data, std::move(edits), out);
  if (passed.block) end_blocked(*passed.block, out);
}

void AnthropicAdapter::start_result(Block& block, const Event& event, EventSink& out) {
  const json::value& content = event.value.at("content_block");
  ChannelId channel{.kind = ChannelKind::ProviderResult, .item = block.index};
  const auto tool = provider_tools_.find(std::string(text_in(content, "tool_use_id")));
  if (tool != provider_tools_.end()) channel.tool = tool->second;
  CheckedLeaves checked = check_leaves(*door_, channel, content, "/content_block", Leaves::Known);
  if (checked.block) return end_blocked(*checked.block, out);
  if (!checked.edits.empty()) note_change({});
  collect_ids(content, "file_id", observed_.file_ids);
  start(block, event.name, event.data, std::move(checked.edits), out);
}

void AnthropicAdapter::start_unknown(Block& block, const Event& event, EventSink& out) {
  door_->note_unknown(block.type);
  const CheckedLeaves checked =
      check_leaves(*door_, {.kind = ChannelKind::Whole, .item = block.index},
                   event.value.at("content_block"), "", Leaves::Unknown);
  if (checked.block) return end_blocked(*checked.block, out);
  start(block, event.name, event.data, {}, out);
}

Result<void> AnthropicAdapter::start_call(Block& block, const Event& event, EventSink& out) {
  const json::value& content = event.value.at("content_block");
  block.id = text_in(content, "id");
  block.tool = text_in(content, "name");
  if (const json::value* const input = member_of(content, "input")) block.input = *input;
  if (!event.exact) block.raw_input = value_at(event.data, "/content_block/input");
  if (block.kind == Block::Kind::ProviderCall) provider_tools_[block.id] = block.tool;
  if (++calls_ > kCalls) return over("a message has too many calls");
  if (block.kind == Block::Kind::Call && left_out_) {
    // The provider would refuse a history without the block before this call (MP-49).
    block.holds = true;
    end_blocked(core::TextBlock(*left_out_), out);
    return {};
  }
  if (block.holds) return hold(block, event, {}, kArguments);
  start(block, event.name, event.data, {}, out);
  return {};
}

// Deltas

Result<void> AnthropicAdapter::take_delta(const Event& event, EventSink& out) {
  const auto index = count_in(event.value, "index");
  const json::object* const delta = object_in(event.value, "delta");
  const auto found = index ? blocks_.find(*index) : blocks_.end();
  if (delta == nullptr || found == blocks_.end()) {
    return sallyport::fail(ErrorCode::Corrupt, "a delta of the provider belongs to no open block");
  }
  Block& block = found->second;
  const json::value& value = event.value.at("delta");
  const std::string_view type = text_in(value, "type");
  if (!is_well_formed(value)) {
    return sallyport::fail(ErrorCode::Corrupt, "a delta of the provider has no text");
  }
  if (block.kind == Block::Kind::Text && type == "text_delta") {
    pass_delta(block, event.name, event.data, text_in(value, "text"), out);
    learn(block, event);
  } else if (block.kind == Block::Kind::Text && type == "citations_delta") {
    pass_citation(block, event, out);
  } else if (block.kind == Block::Kind::Reasoning &&
             (type == "thinking_delta" || type == "signature_delta" ||
              type == "compaction_delta")) {
    return take_reasoning_delta(block, event, out);
  } else if (type == "input_json_delta" &&
             (block.kind == Block::Kind::Call || block.kind == Block::Kind::ProviderCall)) {
    return take_call_delta(block, event, out);
  } else {
    pass_unknown_delta(block, event, out);
    if (!complete_ && block.holds) return hold(block, event, {}, kHeld);
  }
  return {};
}

core::PassedText AnthropicAdapter::push(Block& block, std::string_view text) {
  text_bytes_ += text.size();
  core::PassedText passed =
      door_->push({.kind = place_of(block).channel, .item = block.index}, text);
  if (block.strings) {
    block.strings->feed(text);
    block.strings->fit(passed);
  }
  if (passed.changed()) note_change(block_instead(passed).notice);
  return passed;
}

// Passes the released part of a text or of unsigned reasoning.
void AnthropicAdapter::pass_delta(Block& block, std::string_view name, std::string_view data,
                                  std::string_view text, EventSink& out) {
  const core::PassedText passed = push(block, text);
  const std::string leaves = passed.text();
  block.last_delta = data;
  if (leaves == text) {
    send(block, name, data, {}, out);
  } else if (!leaves.empty()) {
    Splice edits;
    edits.replace(pointer_to("/delta", place_of(block).member), json_string(leaves));
    send(block, name, data, std::move(edits), out);
  }
  if (passed.block) end_blocked(*passed.block, out);
}

// True: the delta differs from an earlier one only in its text, and was handled like it.
bool AnthropicAdapter::pass_repeated(const net::SseEvent& event, EventSink& out) {
  if (waiting_) return false;
  const auto found = blocks_.find(repeated_index_);
  if (found == blocks_.end()) return false;
  Block& block = found->second;
  const auto delta = repeated_.read(event.data);
  if (!delta) return false;
  const core::PassedText passed = push(block, delta->text);
  const std::string leaves = passed.text();
  block.last_delta = event.data;
  if (leaves == delta->text) {
    out.event(event.name, event.data);
  } else if (!leaves.empty()) {
    out.event(event.name, with_text(event.data, *delta, leaves));
  }
  if (passed.block) end_blocked(*passed.block, out);
  return true;
}

void AnthropicAdapter::learn(const Block& block, const Event& event) {
  const bool plain = event.value.get_object().size() == 3 &&
                     event.value.at("delta").get_object().size() == 2 &&
                     block.sent_index == block.index;
  if (!plain || complete_ || whole_body_) return;
  repeated_.learn(event.data, {.text = "/delta/text"});
  repeated_index_ = block.index;
}

void AnthropicAdapter::pass_citation(Block& block, const Event& event, EventSink& out) {
  CheckedLeaves checked = check_leaves(*door_, {.kind = ChannelKind::Whole, .item = block.index},
                                       event.value.at("delta"), "/delta", Leaves::Known);
  if (checked.block) return end_blocked(*checked.block, out);
  if (!checked.edits.empty()) note_change({});
  send(block, event.name, event.data, std::move(checked.edits), out);
}

void AnthropicAdapter::pass_unknown_delta(Block& block, const Event& event, EventSink& out) {
  const json::value& delta = event.value.at("delta");
  if (block.kind != Block::Kind::Other) {
    door_->note_unknown(std::string(text_in(delta, "type")));
  }
  const CheckedLeaves checked = check_leaves(
      *door_, {.kind = ChannelKind::Whole, .item = block.index}, delta, "", Leaves::Unknown);
  if (checked.block) return end_blocked(*checked.block, out);
  if (!block.holds) send(block, event.name, event.data, {}, out);
}

Result<void> AnthropicAdapter::take_call_delta(Block& block, const Event& event, EventSink& out) {
  const std::string_view piece = text_in(event.value.at("delta"), "partial_json");
  argument_bytes_ += piece.size();
  text_bytes_ += piece.size();
  if (argument_bytes_ > kArguments) return over("the arguments of a message are over the limit");
  block.arguments += piece;
  if (block.holds) return hold(block, event, piece, kArguments);
  send(block, event.name, event.data, {}, out);
  return {};
}

// Takes the start and each delta: readable text or a signature. The signature comes only at the
// end, so the block waits for it.
Result<void> AnthropicAdapter::take_reasoning_delta(Block& block, const Event& event,
                                                    EventSink& out) {
  const json::value* delta = member_of(event.value, "delta");
  const bool starts = delta == nullptr;
  if (starts) delta = &event.value.at("content_block");
  const std::string_view text =
      text_in(*delta, block.type == "compaction" ? "content" : "thinking");
  const std::string_view signature = text_in(*delta, "signature");
  if (!signature.empty()) block.has_signature = true;
  if (block.holds) {
    block.text += text;
    if (block.text.size() + signature.size() > kSignedBlock) {
      return over("a block of reasoning is over the limit of what is held");
    }
    return hold(block, event, text, kHeld);
  }
  if (starts) {
    start(block, event.name, event.data, {}, out);
  } else {
    send(block, event.name, event.data, {}, out);
  }
  // No check may change it, but checks may log hits in it.
  const core::PassedText passed = push(block, text);
  if (passed.block) end_blocked(*passed.block, out);
  return {};
}

// Ends

Task<void> AnthropicAdapter::stop_block(Event event, EventSink& out) {
  const auto index = count_in(event.value, "index");
  const auto found = index ? blocks_.find(*index) : blocks_.end();
  if (found == blocks_.end()) {
    co_return sallyport::fail(ErrorCode::Corrupt, "the provider ends a block that is not open");
  }
  Block& open = found->second;
  if (open.kind == Block::Kind::Text) finish_text(open, out);
  if (open.kind == Block::Kind::Reasoning && !open.holds) {
    (void)door_->finish({.kind = ChannelKind::Reasoning, .item = open.index});
  }
  if (complete_) co_return Result<void>{};
  Block block = std::move(open);
  blocks_.erase(found);
  if (block.holds) {
    SALLYPORT_CO_CHECK_OK(hold(block, event, {}, kHeld));
  } else {
    send(block, event.name, event.data, {}, out);
  }
  if (block.kind == Block::Kind::Reasoning && block.holds) release_reasoning(block, event, out);
  if (block.kind == Block::Kind::ProviderCall) release_provider_call(block, out);
  if (block.kind != Block::Kind::Call) co_return Result<void>{};
  if (!block.holds) {
    co_await record_call(std::move(block));
    co_return Result<void>{};
  }
  // The call may have been cut even if its arguments look complete; `ends_call` waits. A whole
  // body is handled alike, so that both forms of an answer are equal (MP-38, MP-59).
  waiting_ = std::move(block);
  co_return Result<void>{};
}

void AnthropicAdapter::finish_text(Block& block, EventSink& out) {
  const TextPlace place = place_of(block);
  core::PassedText passed = door_->finish({.kind = place.channel, .item = block.index});
  if (block.strings) block.strings->fit(passed);
  if (passed.changed()) note_change(block_instead(passed).notice);
  const std::string leaves = passed.text();
  if (!leaves.empty() && block.last_delta.empty()) {
    send_text(block, leaves, out);
  } else if (!leaves.empty()) {
    Splice edits;
    edits.replace(pointer_to("/delta", place.member), json_string(leaves));
    send(block, "content_block_delta", block.last_delta, std::move(edits), out);
  }
  if (passed.block) end_blocked(*passed.block, out);
}

void AnthropicAdapter::release_reasoning(Block& block, const Event& stop, EventSink& out) {
  if (!block.has_signature) {
    const Held last = block.held.back();  // its stop
    block.held.pop_back();
    // The block is open again until its end, so that a block on its text closes it.
    Block& open = blocks_[block.index] = std::move(block);
    open.holds = false;
    release_unsigned(open, out);
    if (complete_) return;
    send(open, stop.name, stop.data, {}, out);
    blocks_.erase(open.index);
    return;
  }
  core::PassedText passed;
  if (door_->enforces_output()) {
    passed = door_->signed_block({.kind = ChannelKind::Reasoning, .item = block.index}, block.text);
  }
  if (!passed.changed() && !changed_) return send_held(block, out);
  if (passed.changed() && settings_.end_on_signed_hit)
    return end_blocked(block_instead(passed), out);
  leave_out(passed);
}

// MP-49, MP-50
void AnthropicAdapter::leave_out(const core::PassedText& passed) {
  door_->note_change();
  if (passed.changed()) {
    left_out_ = block_instead(passed);
    note_change(left_out_->notice);
  } else if (!left_out_) {
    left_out_ = core::TextBlock{.notice = change_notice_.empty()
                                              ? "[This answer was withheld by a guardrail.]"
                                              : change_notice_,
                                .reason = "a signed block follows a change of its message"};
  }
}

void AnthropicAdapter::release_unsigned(Block& block, EventSink& out) {
  const std::vector<Held> held = std::move(block.held);
  for (const Held& held_event : held) {
    const Result<ParsedJson> event = read_wire_json(held_event.data);
    const bool starts = !block.begun;
    const std::string place = starts ? "/content_block" : "/delta";
    const json::value& value = event->value.at(starts ? "content_block" : "delta");
    const std::string member = block.type == "compaction" ? "content" : "thinking";
    const std::string text = std::string(text_in(value, member)) + held_event.more;
    core::PassedText passed;
    if (block.type == "compaction") {
      passed = door_->whole({.kind = ChannelKind::Reasoning, .item = block.index}, text);
      if (passed.changed()) note_change(block_instead(passed).notice);
    } else {
      passed = push(block, text);
    }
    const std::string leaves = passed.text();
    Splice edits;
    if (leaves != text_in(value, member)) {
      edits.replace(pointer_to(place, member), json_string(leaves));
    }
    if (starts) {
      start(block, held_event.name, held_event.data, std::move(edits), out);
    } else if (!leaves.empty() || text.empty()) {
      send(block, held_event.name, held_event.data, std::move(edits), out);
    }
    if (!starts && text_in(value, "type") == "thinking_delta") block.last_delta = held_event.data;
    if (passed.block) return end_blocked(*passed.block, out);
  }
  if (block.type == "thinking") finish_text(block, out);
}

}  // namespace sallyport::llm
