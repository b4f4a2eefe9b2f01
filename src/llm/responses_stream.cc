// Texts of Responses that come in deltas, each with its own gate (MP-40).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/try.h"
#include "llm/responses_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

const TextPlace kTranscript{.item = kNoItem, .pointer = "/transcript"};

}  // namespace

std::optional<ResponsesAdapter::Place> ResponsesAdapter::place_of(const TextRule& rule,
                                                                  const json::value& event) {
  const auto item = count_in(event, "output_index");
  if (!item) return std::nullopt;
  Place place{.channel = {.kind = rule.kind, .item = *item}};
  if (!rule.index.empty()) place.number = count_in(event, rule.index).value_or(0);
  place.channel.part = place.number + (rule.place == "summary" ? kSummaryPart : 0);
  place.text = {.item = *item, .pointer = rule.pointer(place.number)};
  return place;
}

// The part of a text. Creates its item if no event began it.
ResponsesAdapter::Part& ResponsesAdapter::part_of(const Place& place, const TextRule& rule,
                                                  const json::value& event) {
  Item& item = items_[place.text.item];
  if (item.type.empty()) {
    item.id = text_in(event, "item_id");
    const bool reasoning = rule.kind == ChannelKind::Reasoning;
    item.type = reasoning ? "reasoning" : "message";
    item.raw = reasoning ? fmt::format(R"({{"id":{},"type":"reasoning","summary":[]}})",
                                       json_string(item.id))
                         : message_item(item.id, "in_progress", "");
  }
  Part& part = item.parts[place.channel.part];
  if (part.raw.empty()) {
    part.raw = text_part("");
    if (rule.kind == ChannelKind::Refusal) part.raw = refusal_part("");
    if (rule.kind == ChannelKind::Reasoning) {
      part.raw = fmt::format(R"({{"type":"{}","text":""}})",
                             rule.place == "summary" ? "summary_text" : "reasoning_text");
    }
  }
  return part;
}

Result<void> ResponsesAdapter::on_delta(const Incoming& in, const TextRule& rule, EventSink& out) {
  const std::optional<Place> place = place_of(rule, in.value);
  // The `added` event of a command has its beginning.
  const std::string_view member = in.type.ends_with(".added") ? rule.member : "delta";
  const json::value* const given = member_of(in.value, member);
  if (!place || given == nullptr || !given->is_string()) return on_other(in, out);
  SALLYPORT_TRY(const MaybeBlocked extra, check_extras(in));
  if (extra) return end_blocked(out, *extra);
  const std::string_view delta = given->get_string();
  SALLYPORT_TRY(TextStep step, texts_.push(place->text, place->channel, delta));
  streams_.try_emplace(place->text,
                       Stream{&rule, std::string(text_in(in.value, "item_id")), place->number});
  if (rule.part) part_of(*place, rule, in.value);
  if (step.text.empty() && !delta.empty()) {
    withheld();
  } else {
    Splice edits;
    if (step.changed) edits.replace(pointer_to("", member), json_string(step.text));
    drop_logprobs(in.value, "", edits);
    send(out, in, std::move(edits));
  }
  learn(in, rule, *place);
  return after_delta(*place, rule, std::move(step), out);
}

Result<void> ResponsesAdapter::after_delta(const Place& place, const TextRule& rule, TextStep step,
                                           EventSink& out) {
  if (step.block) {
    return end_blocked(
        out,
        {.block = std::move(*step.block), .item = place.text.item, .pointer = place.text.pointer});
  }
  if (rule.kind != ChannelKind::Text) return {};
  return release_annotations(place.text.item, place.channel.part, out);
}

// Handles an event that differs from an earlier delta only in its text.
std::optional<Result<void>> ResponsesAdapter::on_repeated(const net::SseEvent& event,
                                                          EventSink& out) {
  if (repeated_rule_ == nullptr || held_ || !queue_.empty() || event.too_long) return std::nullopt;
  const auto delta = repeated_.read(event.data);
  const auto item = items_.find(repeated_place_.text.item);
  if (!delta || item == items_.end() || item->second.call) return std::nullopt;
  Result<TextStep> step = texts_.push(repeated_place_.text, repeated_place_.channel, delta->text);
  if (!step) return Result<void>(std::unexpected(std::move(step).error()));
  if (step->text.empty()) {
    withheld();
  } else {
    std::uint64_t number = 0;
    std::from_chars(delta->number.data(), delta->number.data() + delta->number.size(), number);
    const std::uint64_t own = next_number(number);
    if (own == number && !step->changed) {
      out.event(event.name, event.data);
    } else {
      out.event(event.name, with_text(event.data, *delta, step->text, fmt::to_string(own)));
    }
  }
  return after_delta(repeated_place_, *repeated_rule_, std::move(*step), out);
}

void ResponsesAdapter::learn(const Incoming& in, const TextRule& rule, const Place& place) {
  const json::object& members = in.value.get_object();
  const json::array* const logprobs = array_in(in.value, "logprobs");
  if (!repeated_.may_learn() || !rule.part || !in.type.ends_with(".delta") ||
      text_in(in.value, "type").empty() || (logprobs != nullptr && !logprobs->empty()) ||
      !count_in(in.value, "sequence_number") ||
      !std::ranges::all_of(members,
                           [&](const auto& member) { return is_member(in.type, member.key()); })) {
    return;
  }
  const bool padded = !text_in(in.value, "obfuscation").empty();
  repeated_.learn(
      in.data,
      {.text = "/delta", .padding = padded ? "/obfuscation" : "", .number = "/sequence_number"});
  repeated_place_ = place;
  repeated_rule_ = &rule;
}

Result<void> ResponsesAdapter::on_text_done(const Incoming& in, const TextRule& rule,
                                            EventSink& out) {
  const std::optional<Place> place = place_of(rule, in.value);
  if (!place) return on_other(in, out);
  SALLYPORT_CHECK_OK(close_text(place->text, out));
  if (complete_) return {};
  SALLYPORT_TRY(const MaybeBlocked extra, check_extras(in));
  if (extra) return end_blocked(out, *extra);
  SALLYPORT_TRY(TextStep step,
                texts_.repeat(place->text, place->channel, text_in(in.value, rule.member),
                              {.streams = true, .loose = loose()}));
  if (rule.part) part_of(*place, rule, in.value).text_done = !step.block;
  if (step.block) {
    return end_blocked(out, {.block = std::move(*step.block),
                             .item = place->text.item,
                             .pointer = place->text.pointer,
                             .released = step.text});
  }
  Splice edits;
  if (step.changed) edits.replace(pointer_to("", rule.member), json_string(step.text));
  drop_logprobs(in.value, "", edits);
  send(out, in, std::move(edits));
  return {};
}

void ResponsesAdapter::make_delta(EventSink& out, const TextPlace& place, const Stream& stream,
                                  std::string_view text) {
  const TextRule* const rule = stream.rule;
  if (rule == nullptr && place == kTranscript) {
    return make(out, "response.audio.transcript.delta",
                fmt::format(R"("delta":{})", json_string(text)));
  }
  std::string members =
      fmt::format(R"("item_id":{},"output_index":{})", json_string(stream.item_id), place.item);
  if (rule == nullptr) {
    const bool errors = place.pointer.ends_with("/stderr");
    members += fmt::format(R"(,"command_index":{},"delta":{{"{}":{}}})", stream.number,
                           errors ? "stderr" : "stdout", json_string(text));
    return make(out, "response.shell_call_output_content.delta", members);
  }
  if (!rule->index.empty()) members += fmt::format(R"(,"{}":{})", rule->index, stream.number);
  members += fmt::format(R"(,"delta":{})", json_string(text));
  if (rule->base == "output_text") members += R"(,"logprobs":[])";
  make(out, fmt::format("response.{}.delta", rule->base), members);
}

Result<void> ResponsesAdapter::close_text(const TextPlace& place, EventSink& out) {
  if (!texts_.is_open(place)) return {};
  SALLYPORT_TRY(TextStep step, texts_.finish(place));
  const Stream& stream = streams_.at(place);
  if (!step.text.empty()) make_delta(out, place, stream, step.text);
  if (step.block) {
    MaybeBlocked blocked = Blocked{.block = std::move(*step.block), .pointer = place.pointer};
    if (place != kTranscript) blocked->item = place.item;
    return end_blocked(out, *blocked);
  }
  if (stream.rule == nullptr || stream.rule->base != "output_text") return {};
  return release_annotations(place.item, stream.number, out);
}

Result<void> ResponsesAdapter::close_texts(std::optional<std::uint64_t> item, EventSink& out) {
  for (const TextPlace& place : texts_.open_places()) {
    if (complete_) return {};
    if (!item || place.item == *item) SALLYPORT_CHECK_OK(close_text(place, out));
  }
  return {};
}

Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::begin_text(const ItemText& text,
                                                                    std::string_view item_id,
                                                                    const std::string& pointer,
                                                                    Splice& edits) {
  const TextPlace place{text.channel.item, text.pointer};
  const TextRule* const rule = TextRule::carrying(text);
  if (rule != nullptr && text.text.empty()) return MaybeBlocked{};
  SALLYPORT_TRY(TextStep step, rule != nullptr
                                   ? texts_.push(place, text.channel, text.text)
                                   : texts_.repeat(place, text.channel, text.text,
                                                   {.fixed = text.fixed, .loose = loose()}));
  if (rule != nullptr) {
    streams_.try_emplace(place,
                         Stream{rule, std::string(item_id), text.channel.part % kSummaryPart});
  }
  if (step.changed) edits.replace(pointer, json_string(step.text));
  if (!step.block) return MaybeBlocked{};
  return MaybeBlocked{Blocked{.block = std::move(*step.block),
                              .item = place.item,
                              .pointer = place.pointer,
                              .released = step.text}};
}

// Output of commands that the provider ran: `delta` has `stdout`, `stderr` or both.
Result<void> ResponsesAdapter::on_shell_output(const Incoming& in, EventSink& out) {
  const std::uint64_t number = count_in(in.value, "command_index").value_or(0);
  const bool done = in.type.ends_with(".done");
  const json::array* const list = done ? array_in(in.value, "output") : nullptr;
  const json::value* const source =
      done ? (list != nullptr && list->size() == 1 ? &list->front() : nullptr)
           : member_of(in.value, "delta");
  if (!in.index || (!done && object_in(in.value, "delta") == nullptr)) return on_other(in, out);
  SALLYPORT_TRY(const MaybeBlocked extra, check_extras(in));
  if (extra) return end_blocked(out, *extra);
  Splice edits;
  bool came = false;
  bool left = done;
  for (const std::string_view name : {"stdout", "stderr"}) {
    const TextPlace place{*in.index, fmt::format("/output/{}/{}", number, name)};
    const ChannelId channel{.kind = ChannelKind::ProviderResult,
                            .item = *in.index,
                            .part = number + (name == "stderr" ? kErrorPart : 0),
                            .tool = "shell"};
    if (done) SALLYPORT_CHECK_OK(close_text(place, out));
    if (complete_) return {};
    if (source == nullptr || text_in(*source, name).empty()) continue;
    came = true;
    const std::string_view text = text_in(*source, name);
    SALLYPORT_TRY(TextStep step, done ? texts_.repeat(place, channel, text, {.loose = loose()})
                                      : texts_.push(place, channel, text));
    if (!done) {
      streams_.try_emplace(place,
                           Stream{nullptr, std::string(text_in(in.value, "item_id")), number});
    }
    const std::string pointer = (done ? "/output/0/" : "/delta/") + std::string(name);
    if (step.changed) edits.replace(pointer, json_string(step.text));
    left = left || !step.text.empty();
    if (step.block) {
      return end_blocked(
          out, {.block = std::move(*step.block), .item = *in.index, .pointer = place.pointer});
    }
  }
  if (done && list != nullptr && list->size() > 1) {
    // The API does not say which deltas a chunk repeats, so all of it is checked again.
    ItemTexts texts;
    add_unknown_texts(texts, *member_of(in.value, "output"), "", *in.index);
    SALLYPORT_TRY(const MaybeBlocked blocked, check_texts(texts, 0, "/output", edits));
    if (blocked) return end_blocked(out, *blocked);
  }
  if (came && !left) {
    withheld();
  } else {
    send(out, in, std::move(edits));
  }
  return {};
}

// The text of an audio. Its events name no item.
Result<void> ResponsesAdapter::on_transcript(const Incoming& in, EventSink& out) {
  if (in.type.ends_with(".done")) {
    SALLYPORT_CHECK_OK(close_text(kTranscript, out));
    if (complete_) return {};
    return on_other(in, out);
  }
  const std::string_view delta = text_in(in.value, "delta");
  const ChannelId channel{.kind = ChannelKind::Text, .item = kTranscript.item};
  SALLYPORT_TRY(TextStep step, texts_.push(kTranscript, channel, delta));
  streams_.try_emplace(kTranscript, Stream{nullptr, {}, 0});
  if (step.text.empty() && !delta.empty()) {
    withheld();
  } else {
    Splice edits;
    if (step.changed) edits.replace("/delta", json_string(step.text));
    send(out, in, std::move(edits));
  }
  if (step.block) return end_blocked(out, {.block = std::move(*step.block)});
  return {};
}

}  // namespace sallyport::llm
