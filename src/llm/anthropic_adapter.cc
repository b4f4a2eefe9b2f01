#include "llm/anthropic_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/try.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

std::unique_ptr<AnswerAdapter> anthropic_adapter(MessageDoors& doors, AnswerSettings settings) {
  return std::make_unique<AnthropicAdapter>(doors, settings);
}

Task<void> AnthropicAdapter::on_event(const net::SseEvent& event, EventSink& out) {
  if (complete_) co_return Result<void>{};
  if (event.too_long) {
    co_return sallyport::fail(ErrorCode::Exhausted, "an event of the provider is over the limit");
  }
  if (pass_repeated(event, out)) co_return Result<void>{};
  JsonLimits limits;
  if (whole_body_) limits.bytes = std::size_t{65} * 1024 * 1024;  // a block of the body, wrapped
  const Result<ParsedJson> parsed = read_wire_json(event.data, limits);
  if (!parsed) {
    co_return sallyport::fail(ErrorCode::Corrupt,
                              "an event of the provider is not JSON: " + parsed.error().message);
  }
  const std::string_view type = text_in(parsed->value, "type");
  if (type.empty()) {
    co_return sallyport::fail(ErrorCode::Corrupt, "an event of the provider has no type");
  }
  co_return co_await take({event.name, event.data, parsed->value, parsed->exact, type}, out);
}

Task<void> AnthropicAdapter::take(Event event, EventSink& out) {
  if (event.type == "ping") co_return pass_ping(event, out);
  if (event.type == "error") {
    observed_.failed = true;
    pass_error(event, out);
    co_return Result<void>{};
  }
  if (event.type == "message_start") co_return begin(event, out);
  const bool known = event.type.starts_with("content_block_") || event.type == "message_delta" ||
                     event.type == "message_stop";
  if (!begun_ && !known) co_return pass_early(event, out);
  if (!begun_) {
    co_return sallyport::fail(ErrorCode::Corrupt,
                              fmt::format("`{}` came before `message_start`", event.type));
  }
  while (waiting_) {
    if (!ends_call(event)) co_return hold_behind(event);
    SALLYPORT_CO_CHECK_OK(co_await settle_waiting(event.value, out));
    for (const Held& held : std::exchange(behind_, {})) {
      SALLYPORT_CO_CHECK_OK(co_await on_event({.name = held.name, .data = held.data}, out));
    }
  }
  if (complete_) co_return Result<void>{};
  if (known) {
    if (const std::optional<UnknownHit> hit = look_at_members(event.type, event.value)) {
      end_blocked(hit->block, out);
      co_return Result<void>{};
    }
  }
  if (event.type == "content_block_start") co_return start_block(event, out);
  if (event.type == "content_block_delta") co_return take_delta(event, out);
  if (event.type == "content_block_stop") co_return co_await stop_block(event, out);
  if (event.type == "message_delta") co_return end_message(event, out);
  if (event.type == "message_stop") co_return stop_message(event, out);
  pass_unknown(event, out);
  co_return Result<void>{};
}

// True if no event after this one can say that the call before it was cut (MP-59).
bool AnthropicAdapter::ends_call(const Event& event) {
  if (event.type == "content_block_start" || event.type == "message_stop") return true;
  const json::value* const delta = member_of(event.value, "delta");
  return event.type == "message_delta" && delta != nullptr &&
         !text_in(*delta, "stop_reason").empty();
}

// Keeps an event behind a call that may have been cut, so that their order stays.
Result<void> AnthropicAdapter::hold_behind(const Event& event) {
  constexpr std::size_t kBehind = std::size_t{16} * 1024 * 1024;
  behind_bytes_ += event.data.size();
  if (behind_bytes_ > kBehind) {
    return sallyport::fail(ErrorCode::Exhausted, "too many events wait for a call");
  }
  behind_.push_back({std::string(event.name), std::string(event.data)});
  return {};
}

Result<void> AnthropicAdapter::pass_ping(const Event& event, EventSink& out) {
  if (event.value.get_object().size() > 1) {
    if (!begun_) return pass_early(event, out);
    if (const std::optional<UnknownHit> hit = look_at_members(event.type, event.value)) {
      end_blocked(hit->block, out);
      return {};
    }
  }
  out.event(event.name, event.data);
  return {};
}

// Passes an event before the message that the API does not define (MP-9, MP-44).
Result<void> AnthropicAdapter::pass_early(const Event& event, EventSink& out) {
  if (!door_) door_ = doors_.open(0);
  door_->note_unknown(std::string(event.type));
  const CheckedLeaves checked =
      check_leaves(*door_, {.kind = ChannelKind::Whole}, event.value, "", Leaves::Unknown);
  if (checked.block) {
    return sallyport::fail(ErrorCode::Corrupt, "a check blocked an event before `message_start`");
  }
  out.event(event.name, event.data);
  return {};
}

// The provider may leave blocks open. Text that waits leaves; a held block fails the answer.
Result<void> AnthropicAdapter::stop_message(const Event& event, EventSink& out) {
  for (auto& [index, block] : blocks_) {
    if (block.holds) {
      return sallyport::fail(ErrorCode::Corrupt, "the provider ended a message within a block");
    }
    if (block.kind == Block::Kind::Text) finish_text(block, out);
    if (complete_) return {};
  }
  complete_ = true;
  out.last(event.name, event.data);
  return {};
}

Task<void> AnthropicAdapter::on_end(EventSink&) {
  if (complete_) co_return Result<void>{};
  co_return sallyport::fail(ErrorCode::Corrupt, "the provider's stream ended within a message");
}

void AnthropicAdapter::keep_alive(EventSink& out) {
  if (begun_ && !complete_) out.event("ping", R"({"type": "ping"})");
}

void AnthropicAdapter::fail(EventSink& out, const ApiError& error) {
  if (std::exchange(failed_, true)) return;
  if (!std::exchange(complete_, true)) drop_calls("the answer failed");
  out.last("error",
           json::serialize(json::object{
               {"type", "error"}, {"error", {{"type", "api_error"}, {"message", error.message}}}}));
}

Result<void> AnthropicAdapter::begin(const Event& event, EventSink& out) {
  const json::object* const message = object_in(event.value, "message");
  if (message == nullptr || begun_) {
    return sallyport::fail(ErrorCode::Corrupt,
                           begun_ ? "the provider began a second message"
                                  : "`message_start` of the provider has no message");
  }
  const json::value* const content = message->if_contains("content");
  if (content != nullptr && content->is_array() && !content->get_array().empty()) {
    return sallyport::fail(ErrorCode::Corrupt, "`message_start` of the provider has content");
  }
  open_message(event.value.at("message"));
  const std::optional<UnknownHit> hit = look_at_members(event.type, event.value);
  if (!hit) {
    out.event(event.name, event.data);
    return {};
  }
  out.event(event.name, edits_without(*hit).applied(event.data));
  end_blocked(hit->block, out);
  return {};
}

void AnthropicAdapter::open_message(const json::value& message) {
  begun_ = true;
  if (!door_) door_ = doors_.open(0);
  observed_.response_id = text_in(message, "id");
  observed_.model = text_in(message, "model");
  take_usage(message);
  take_container(message);
  observed_.usage_is_final = whole_body_;
}

void AnthropicAdapter::take_container(const json::value& holder) {
  const json::value* const container = member_of(holder, "container");
  const std::string_view id = container ? text_in(*container, "id") : std::string_view();
  if (!id.empty()) observed_.container_ids = {std::string(id)};
}

// Counters are totals of the message, so a later report replaces the members that it has.
void AnthropicAdapter::take_usage(const json::value& holder) {
  const json::object* const reported = object_in(holder, "usage");
  if (reported == nullptr) return;
  for (const auto& member : *reported) {
    if (!member.value().is_null()) usage_[member.key()] = member.value();
  }
  const json::value all(usage_);
  Usage usage;
  usage.input_tokens = count_in(all, "input_tokens");
  usage.output_tokens = count_in(all, "output_tokens");
  usage.cache_read_input_tokens = count_in(all, "cache_read_input_tokens");
  usage.cache_creation_input_tokens = count_in(all, "cache_creation_input_tokens");
  if (const json::value* const details = member_of(all, "output_tokens_details")) {
    usage.reasoning_tokens = count_in(*details, "thinking_tokens");
  }
  observed_.usage = usage;
}

Result<void> AnthropicAdapter::end_message(const Event& event, EventSink& out) {
  take_usage(event.value);
  const json::value* const reported = member_of(event.value, "usage");
  usage_at_end_came_ = usage_at_end_came_ || reported != nullptr;
  if (reported != nullptr && count_in(*reported, "output_tokens")) observed_.usage_is_final = true;
  const json::value* const delta = member_of(event.value, "delta");
  if (delta == nullptr || !delta->is_object()) {
    return sallyport::fail(ErrorCode::Corrupt, "`message_delta` of the provider has no delta");
  }
  take_container(*delta);
  const std::string_view reason = text_in(*delta, "stop_reason");
  if (!reason.empty()) {
    observed_.stop_reason = reason;
    observed_.sent_stop_reason = reason;
  }
  Splice edits;
  if (const json::value* const details = member_of(*delta, "stop_details")) {
    const std::string_view explanation = text_in(*details, "explanation");
    if (!explanation.empty()) {
      core::PassedText passed = door_->whole({.kind = ChannelKind::Refusal}, explanation);
      if (passed.block) {
        end_blocked(*passed.block, out);
        return {};
      }
      if (passed.changed()) {
        note_change(passed.text());
        edits.replace("/delta/stop_details/explanation", json_string(passed.text()));
      }
    }
  }
  if (reason == "tool_use" && calls_refused_ > 0 && calls_sent_ == 0) {
    observed_.sent_stop_reason = "end_turn";
    edits.replace("/delta/stop_reason", "\"end_turn\"");
  }
  out.event(event.name, edits.applied(event.data));
  return {};
}

void AnthropicAdapter::pass_error(const Event& event, EventSink& out) {
  complete_ = true;
  if (door_) drop_calls("the answer failed");
  Splice edits;
  if (door_) {
    CheckedLeaves checked =
        check_leaves(*door_, {.kind = ChannelKind::Whole}, event.value, "", Leaves::Known);
    edits = std::move(checked.edits);
    if (checked.block) edits.replace("/error/message", json_string(checked.block->notice));
  }
  out.last(event.name, edits.applied(event.data));
}

void AnthropicAdapter::pass_unknown(const Event& event, EventSink& out) {
  door_->note_unknown(std::string(event.type));
  const CheckedLeaves checked =
      check_leaves(*door_, {.kind = ChannelKind::Whole}, event.value, "", Leaves::Unknown);
  if (checked.block) return end_blocked(*checked.block, out);
  out.event(event.name, event.data);
}

void AnthropicAdapter::note_change(std::string_view notice) {
  changed_ = true;
  change_notice_ = notice;
}

// Drops the calls that have not left (MP-63).
void AnthropicAdapter::drop_calls(const std::string& why) {
  for (const auto& [index, block] : blocks_) {
    if (block.kind == Block::Kind::Call && block.holds) door_->drop(block.id, block.tool, why);
  }
  if (waiting_) door_->drop(waiting_->id, waiting_->tool, why);
}

// A block of a check ends the message (MP-45, MP-46).
void AnthropicAdapter::end_blocked(const core::TextBlock& block, EventSink& out) {
  complete_ = true;
  if (!observed_.block) observed_.block = block;
  drop_calls("its message was ended");
  const bool answers = settings_.block_as_answer;
  write_notice(settings_.json_format && !answers ? "" : block.notice, out);
  json::object delta{{"stop_reason", answers ? "end_turn" : "refusal"},
                     {"stop_sequence", nullptr},
                     {"stop_details", nullptr}};
  if (!answers) {
    delta["stop_details"] = {
        {"type", "refusal"}, {"category", nullptr}, {"explanation", block.notice}};
  }
  observed_.sent_stop_reason = delta["stop_reason"].as_string();
  out.event("message_delta", json::serialize(json::object{{"type", "message_delta"},
                                                          {"delta", std::move(delta)},
                                                          {"usage", usage_at_end()}}));
  out.last("message_stop", R"({"type":"message_stop"})");
}

// Writes into the open text, else into a text block of its own. Closes open blocks.
void AnthropicAdapter::write_notice(std::string_view notice, EventSink& out) {
  bool written = notice.empty();
  for (const auto& [index, open] : blocks_) {
    if (!open.begun) continue;
    if (!written && open.kind == Block::Kind::Text) {
      send_text(open, notice, out);
      written = true;
    }
    out.event("content_block_stop",
              fmt::format(R"({{"type":"content_block_stop","index":{}}})", open.sent_index));
  }
  if (!written) send_block(notice, out);
}

// Clients need a usage, so its counters stay.
Splice AnthropicAdapter::edits_without(const UnknownHit& hit) const {
  Splice edits;
  for (const std::string& pointer : hit.pointers) {
    if (pointer.ends_with("/usage")) {
      edits.replace(pointer, json::serialize(usage_at_end()));
    } else {
      edits.remove(pointer);
    }
  }
  return edits;
}

json::object AnthropicAdapter::usage_at_end() const {
  static constexpr std::array<std::string_view, 4> kCounters{
      "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"};
  const json::value reported(usage_);
  json::object usage;
  for (const std::string_view name : kCounters) {
    if (const auto count = count_in(reported, name)) usage[name] = *count;
  }
  if (!usage_at_end_came_ && !whole_body_) {
    const std::uint64_t estimate = (text_bytes_ + 3) / 4;
    usage["output_tokens"] = std::max(count_in(reported, "output_tokens").value_or(0), estimate);
  }
  return usage;
}

}  // namespace sallyport::llm
