// Parts of messages and of reasoning: their texts, annotations and log probabilities.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/try.h"
#include "llm/responses_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

// Members of every event that are not texts.
constexpr std::array<std::string_view, 7> kEventMembers{
    "type",          "sequence_number", "item_id",      "output_index",
    "content_index", "summary_index",   "command_index"};

// Members of some events that are checked where they are used, or that are media.
struct EventMember {
  std::string_view event;  // its type begins with this
  std::string_view member;
};
constexpr std::array<EventMember, 17> kOwnMembers{{
    {"response.output_item.", "item"},
    {"response.content_part.", "part"},
    {"response.reasoning_summary_part.", "part"},
    {"response.output_text.annotation.", "annotation"},
    {"response.function_call_arguments.done", "arguments"},
    {"response.function_call_arguments.done", "name"},
    {"response.custom_tool_call_input.done", "input"},
    {"response.apply_patch_call_operation_diff.done", "diff"},
    {"response.shell_call_output_content.done", "output"},
    {"response.image_generation_call.", "partial_image_b64"},
    {"response.image_generation_call.", "quality"},
    {"response.image_generation_call.", "size"},
    {"response.image_generation_call.", "background"},
    {"response.image_generation_call.", "output_format"},
    {"error", "message"},
    {"error", "error"},
    {"error", "code"},
}};

std::uint64_t number_in_item(std::string_view in_item) {
  const bool summary = in_item.starts_with("/summary/");
  std::uint64_t number = 0;
  for (const char c : in_item.substr(in_item.rfind('/') + 1)) {
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number + (summary ? kSummaryPart : 0);
}

// Every string of an annotation except words of the API and ids, with its path.
void add_annotation_texts(std::vector<std::pair<std::string, std::string_view>>& texts,
                          const json::value& value, const std::string& pointer) {
  if (const json::string* const text = value.if_string()) {
    texts.emplace_back(pointer, *text);
  } else if (const json::array* const list = value.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      add_annotation_texts(texts, (*list)[i], pointer_to(pointer, i));
    }
  } else if (const json::object* const members = value.if_object()) {
    for (const auto& [name, member] : *members) {
      const bool word = name == "type" || name == "id" || name.ends_with("_id");
      if (word && member.is_string()) continue;
      add_annotation_texts(texts, member, pointer_to(pointer, std::string_view(name)));
    }
  }
}

}  // namespace

void ResponsesAdapter::drop_logprobs(const json::value& object, const std::string& pointer,
                                     Splice& edits) {
  const json::array* const list = array_in(object, "logprobs");
  if (list == nullptr || list->empty() || !door_->enforces_output()) return;
  edits.replace(pointer_to(pointer, "logprobs"), "[]");
  if (!noted_logprobs_) door_->note_degraded("logprobs");
  noted_logprobs_ = true;
}

Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::check_texts(const ItemTexts& texts,
                                                                     std::size_t inside,
                                                                     const std::string& pointer,
                                                                     Splice& edits) {
  for (const std::string& type : texts.unknown) door_->note_unknown(type);
  for (const ItemText& text : texts.texts) {
    const TextPlace place{text.channel.item, text.pointer};
    SALLYPORT_TRY(TextStep step, texts_.repeat(place, text.channel, text.text,
                                               {.streams = TextRule::carrying(text) != nullptr,
                                                .fixed = text.fixed,
                                                .loose = loose()}));
    if (step.block) {
      Blocked blocked{
          .block = std::move(*step.block), .pointer = text.pointer, .released = step.text};
      if (place.item != kNoItem) blocked.item = place.item;
      return MaybeBlocked(std::move(blocked));
    }
    if (step.changed) edits.replace(pointer + text.pointer.substr(inside), json_string(step.text));
  }
  return MaybeBlocked{};
}

bool ResponsesAdapter::is_member(std::string_view type, std::string_view name) {
  if (std::ranges::find(kEventMembers, name) != kEventMembers.end()) return true;
  const TextRule* const rule = TextRule::of(type);
  const bool delta = type.ends_with(".delta");
  if (delta && (name == "delta" || name == "obfuscation")) return true;
  if (rule != nullptr && (name == "logprobs" || (!delta && name == rule->member))) return true;
  return std::ranges::any_of(kOwnMembers, [&](const EventMember& own) {
    return own.member == name && type.starts_with(own.event);
  });
}

Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::check_extras(const Incoming& in) {
  ItemTexts texts;
  // A response is checked instead of the members that belong to the type of its event.
  const bool whole = object_in(in.value, "response") != nullptr;
  for (const auto& [name, value] : in.value.get_object()) {
    if (value.is_number() || value.is_bool() || value.is_null()) continue;
    const bool known = whole ? name == "response" || is_member({}, name) : is_member(in.type, name);
    if (known) continue;
    texts.unknown.emplace_back(name);
    add_unknown_texts(texts, value, fmt::format("/{}{}", in.type, pointer_to("", name)),
                      in.index.value_or(kNoItem));
  }
  Splice none;
  return check_texts(texts, 0, "", none);
}

Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::check_part(const json::value& part,
                                                                    const std::string& pointer,
                                                                    std::uint64_t item,
                                                                    const std::string& in_item,
                                                                    Splice& edits) {
  ItemTexts texts;
  add_part_texts(texts, part, in_item, item, number_in_item(in_item));
  SALLYPORT_TRY(MaybeBlocked blocked, check_texts(texts, in_item.size(), pointer, edits));
  if (blocked) return blocked;
  drop_logprobs(part, pointer, edits);
  return check_annotations(part, pointer, {item, in_item + "/text"}, edits);
}

// Replaces texts and offsets of an annotation, or removes it (MP-47).
Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::check_annotation(
    const json::value& annotation, const std::string& pointer, const TextPlace& place,
    Splice& edits) {
  const auto start = count_in(annotation, "start_index");
  const auto end = count_in(annotation, "end_index");
  if (start && end) {
    const auto mapped = texts_.mapped(place, *start, *end);
    if (!mapped) {
      edits.remove(pointer);
      return MaybeBlocked{};
    }
    if (mapped->first != *start) {
      edits.replace(pointer + "/start_index", fmt::to_string(mapped->first));
    }
    if (mapped->second != *end) {
      edits.replace(pointer + "/end_index", fmt::to_string(mapped->second));
    }
  }
  std::vector<std::pair<std::string, std::string_view>> texts;
  add_annotation_texts(texts, annotation, "");
  for (const auto& [below, text] : texts) {
    // An annotation comes in its event, its part and its item. Its text identifies it.
    const TextPlace own{place.item, fmt::format("{}/annotation{}/{}", place.pointer, below, text)};
    SALLYPORT_TRY(TextStep step,
                  texts_.repeat(own, {.kind = ChannelKind::Whole, .item = place.item}, text,
                                {.loose = loose()}));
    if (step.block) {
      return MaybeBlocked(
          Blocked{.block = std::move(*step.block), .item = place.item, .pointer = place.pointer});
    }
    if (step.changed) edits.replace(pointer + below, json_string(step.text));
  }
  return MaybeBlocked{};
}

Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::check_annotations(
    const json::value& part, const std::string& pointer, const TextPlace& place, Splice& edits) {
  const json::array* const annotations = array_in(part, "annotations");
  for (std::size_t i = 0; annotations != nullptr && i < annotations->size(); ++i) {
    SALLYPORT_TRY(MaybeBlocked blocked,
                  check_annotation((*annotations)[i], fmt::format("{}/annotations/{}", pointer, i),
                                   place, edits));
    if (blocked) return blocked;
  }
  return MaybeBlocked{};
}

Result<void> ResponsesAdapter::on_part(const Incoming& in, bool done, EventSink& out) {
  const bool summary = in.type.starts_with("response.reasoning_summary_part.");
  const json::value* const part = member_of(in.value, "part");
  const auto number = count_in(in.value, summary ? "summary_index" : "content_index");
  if (!in.index || part == nullptr || !part->is_object() || !number) return on_other(in, out);
  const std::string in_item = fmt::format("/{}/{}", summary ? "summary" : "content", *number);
  for (const std::string_view member : {"/text", "/refusal"}) {
    if (done) SALLYPORT_CHECK_OK(close_text({*in.index, in_item + std::string(member)}, out));
    if (complete_) return {};
  }
  Splice edits;
  SALLYPORT_TRY(MaybeBlocked blocked, check_extras(in));
  if (blocked) return end_blocked(out, *blocked);
  if (done) {
    SALLYPORT_TRY(blocked, check_part(*part, "/part", *in.index, in_item, edits));
  } else {
    ItemTexts texts;
    add_part_texts(texts, *part, in_item, *in.index, *number + (summary ? kSummaryPart : 0));
    for (const std::string& type : texts.unknown) door_->note_unknown(type);
    for (const ItemText& text : texts.texts) {
      SALLYPORT_TRY(blocked, begin_text(text, text_in(in.value, "item_id"),
                                        "/part" + text.pointer.substr(in_item.size()), edits));
      if (blocked) break;
    }
    drop_logprobs(*part, "/part", edits);
    if (!blocked) {
      SALLYPORT_TRY(blocked,
                    check_annotations(*part, "/part", {*in.index, in_item + "/text"}, edits));
    }
  }
  if (blocked) return end_blocked(out, *blocked);
  const std::string data = numbered(in, std::move(edits));
  Item& item = items_[*in.index];
  if (item.type.empty()) {
    item.id = text_in(in.value, "item_id");
    item.type = summary ? "reasoning" : "message";
    item.raw = message_item(item.id, "in_progress", "");
  }
  Part& state = item.parts[*number + (summary ? kSummaryPart : 0)];
  state.raw = value_at(data, "/part");
  state.added = true;
  state.closed = done;
  out.event(in.name, data);
  return {};
}

Result<void> ResponsesAdapter::on_annotation(Incoming in, EventSink& out) {
  const json::value* const annotation = member_of(in.value, "annotation");
  const auto number = count_in(in.value, "content_index");
  if (!in.index || annotation == nullptr || !number) return on_other(in, out);
  const std::uint64_t item = *in.index;
  Part& part = items_[item].parts[*number];
  const std::uint64_t end = count_in(*annotation, "end_index").value_or(0);
  const TextPlace place{item, fmt::format("/content/{}/text", *number)};
  // Offsets are known after the text up to them has left.
  if (!part.waiting.empty() || !texts_.is_decided(place, end)) {
    waiting_ += in.data.size();
    if (waiting_ > ResponsesTexts::kLimit) {
      return sallyport::fail(ErrorCode::Exhausted, "events that wait are over 16 MiB");
    }
    withheld();
    part.waiting.push_back({std::move(in), end});
    return {};
  }
  return send_annotation(in, item, *number, out);
}

Result<void> ResponsesAdapter::send_annotation(const Incoming& in, std::uint64_t item,
                                               std::uint64_t number, EventSink& out) {
  const TextPlace place{item, fmt::format("/content/{}/text", number)};
  Splice edits;
  const json::value& annotation = *member_of(in.value, "annotation");
  Part& part = items_[item].parts[number];
  const auto start = count_in(annotation, "start_index");
  const auto end = count_in(annotation, "end_index");
  if (start && end && !texts_.mapped(place, *start, *end)) {
    ++part.dropped;
    withheld();
    return {};
  }
  SALLYPORT_TRY(MaybeBlocked blocked, check_extras(in));
  if (!blocked) {
    SALLYPORT_TRY(blocked, check_annotation(annotation, "/annotation", place, edits));
  }
  if (blocked) return end_blocked(out, *blocked);
  const auto index = count_in(in.value, "annotation_index");
  if (index && part.dropped != 0 && *index >= part.dropped) {
    edits.replace("/annotation_index", fmt::to_string(*index - part.dropped));
  }
  const std::string data = numbered(in, std::move(edits));
  part.annotations.emplace_back(value_at(data, "/annotation"));
  out.event(in.name, data);
  return {};
}

Result<void> ResponsesAdapter::release_annotations(std::uint64_t item, std::uint64_t number,
                                                   EventSink& out) {
  Part& part = items_[item].parts[number];
  const TextPlace place{item, fmt::format("/content/{}/text", number)};
  while (!complete_ && !part.waiting.empty() &&
         texts_.is_decided(place, part.waiting.front().end)) {
    const Incoming in = std::move(part.waiting.front().event);
    part.waiting.pop_front();
    waiting_ -= in.data.size();
    SALLYPORT_CHECK_OK(send_annotation(in, item, number, out));
  }
  return {};
}

}  // namespace sallyport::llm
