// Ends a message that a check blocked: open items are closed with their released text, the notice
// follows, and the response ends (MP-45).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "llm/responses_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

// With `block_as: answer` the message ends like any other (MP-46).
std::string_view ResponsesAdapter::blocked_status() const {
  return settings_.block_as_answer ? "completed" : "incomplete";
}

void ResponsesAdapter::set_blocked(Splice& edits, const json::value& response,
                                   const std::string& pointer, const std::string& output) const {
  set_member(edits, response, pointer, "status", json_string(blocked_status()));
  if (!settings_.block_as_answer) {
    set_member(edits, response, pointer, "incomplete_details", R"({"reason":"content_filter"})");
  }
  set_member(edits, response, pointer, "output", output);
  if (member_of(response, "completed_at") != nullptr) {
    edits.replace(pointer + "/completed_at", "null");
  }
}

Result<void> ResponsesAdapter::end_blocked(EventSink& out, const Blocked& blocked) {
  drop_undecided();
  observed_.block = blocked.block;
  bool placed = false;
  for (auto& [index, item] : items_) {
    if (!item.closed) placed = close_item(out, index, item, blocked) || placed;
  }
  if (!placed) {
    const std::uint64_t index = items_.empty() ? 0 : items_.rbegin()->first + 1;
    make_message(out, index, blocked.block.notice, blocked_status(), settings_.json_format);
  }
  std::vector<std::string> output;
  for (const auto& [index, item] : items_) output.push_back(item.raw);
  const std::string begun = begun_.empty()
                                ? fmt::format(R"({{"response":{{"id":{},"object":"response"}}}})",
                                              json_string(observed_.response_id))
                                : begun_;
  SALLYPORT_TRY(const ParsedJson event, read_wire_json(begun));
  Splice edits;
  set_blocked(edits, event.value.at("response"), "/response", json_list(output));
  const std::string changed = edits.applied(begun);
  complete_ = true;
  observed_.sent_stop_reason = settings_.block_as_answer ? "completed" : "content_filter";
  make(out, settings_.block_as_answer ? "response.completed" : "response.incomplete",
       fmt::format(R"("response":{})", value_at(changed, "/response")), true);
  return {};
}

bool ResponsesAdapter::close_item(EventSink& out, std::uint64_t index, Item& item,
                                  const Blocked& blocked) {
  const bool target = item.type == "message" && blocked.item == index;
  bool placed = false;
  std::uint64_t next = 0;  // number of a new part
  for (auto& [number, part] : item.parts) {
    next = number + 1;
    if (part.closed) continue;
    const TextPlace place{index, fmt::format("/content/{}/text", number)};
    const bool text = value_at(part.raw, "/type") == "\"output_text\"";
    if (target && text && !settings_.json_format && !part.text_done &&
        blocked.pointer == place.pointer) {
      make_delta(out, place, {TextRule::of("response.output_text.delta"), item.id, number},
                 blocked.released + blocked.block.notice);
      texts_.add(place, blocked.block.notice);
      placed = true;
    }
    close_part(out, index, item, number);
  }
  if (target && !placed) {
    const bool refusal = settings_.json_format;
    const TextPlace place{index, fmt::format("/content/{}/{}", next, refusal ? "refusal" : "text")};
    Part& part = item.parts[next];
    part.raw = refusal ? refusal_part("") : text_part("");
    part.added = true;
    make(out, "response.content_part.added",
         fmt::format(R"("item_id":{},"output_index":{},"content_index":{},"part":{})",
                     json_string(item.id), index, next, part.raw));
    make_delta(out, place,
               {TextRule::of(refusal ? "response.refusal.delta" : "response.output_text.delta"),
                item.id, next},
               blocked.block.notice);
    texts_.add(place, blocked.block.notice);
    close_part(out, index, item, next);
    placed = true;
  }
  item.raw = closed_item(index, item);
  item.closed = true;
  make(out, "response.output_item.done",
       fmt::format(R"("output_index":{},"item":{})", index, item.raw));
  return placed;
}

// The end of a part, with the text that left.
void ResponsesAdapter::close_part(EventSink& out, std::uint64_t index, Item& item,
                                  std::uint64_t number) {
  Part& part = item.parts[number];
  const bool summary = number >= kSummaryPart;
  const std::uint64_t own = summary ? number - kSummaryPart : number;
  const std::string_view type = value_at(part.raw, "/type");
  const bool refusal = type == "\"refusal\"";
  const std::string_view member = refusal ? "refusal" : "text";
  const TextPlace place{index,
                        fmt::format("/{}/{}/{}", summary ? "summary" : "content", own, member)};
  const std::string text = texts_.sent(place);
  const std::string where =
      fmt::format(R"("item_id":{},"output_index":{},"{}":{})", json_string(item.id), index,
                  summary ? "summary_index" : "content_index", own);
  std::string_view event;
  if (type == "\"output_text\"") event = "output_text";
  if (refusal) event = "refusal";
  if (type == "\"reasoning_text\"") event = "reasoning_text";
  if (summary) event = "reasoning_summary_text";
  if (!part.text_done && !event.empty()) {
    make(out, fmt::format("response.{}.done", event),
         fmt::format(R"({},"{}":{}{})", where, member, json_string(text),
                     event == "output_text" ? R"(,"logprobs":[])" : ""));
  }
  Splice edits;
  if (!event.empty()) edits.replace(pointer_to("", member), json_string(text));
  if (event == "output_text") edits.replace("/annotations", json_list(part.annotations));
  part.raw = edits.applied(part.raw);
  part.closed = true;
  if (!part.added) return;
  make(out, fmt::format("response.{}.done", summary ? "reasoning_summary_part" : "content_part"),
       fmt::format(R"({},"part":{})", where, part.raw));
}

// The released part of an item that is cut short.
std::string ResponsesAdapter::closed_item(std::uint64_t index, const Item& item) const {
  const Result<ParsedJson> parsed = read_wire_json(item.raw);
  if (!parsed) return item.raw;
  const json::value& value = parsed->value;
  Splice edits;
  const bool message = item.type == "message";
  if (message || item.type == "reasoning") {
    std::vector<std::string> contents;
    std::vector<std::string> summaries;
    for (const auto& [number, part] : item.parts) {
      (number < kSummaryPart ? contents : summaries).push_back(part.raw);
    }
    set_member(edits, value, "", "status", json_string(message ? blocked_status() : "incomplete"));
    if (message || !contents.empty()) {
      set_member(edits, value, "", "content", json_list(contents));
    }
    if (!message) set_member(edits, value, "", "summary", json_list(summaries));
    edits.remove("/encrypted_content");
    return edits.applied(item.raw);
  }
  if (member_of(value, "status") != nullptr) {
    const bool fails = item.type == "web_search_call" || item.type == "image_generation_call";
    edits.replace("/status", fails ? "\"failed\"" : "\"incomplete\"");
  }
  for (const ItemText& text : texts_of(value, index).texts) {
    if (item.call) break;
    const std::string sent = texts_.sent({index, text.pointer});
    if (sent != text.text) edits.replace(text.pointer, json_string(sent));
  }
  return edits.applied(item.raw);
}

}  // namespace sallyport::llm
