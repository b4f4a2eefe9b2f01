// Whole answers of Responses: the object that a client would build from the events (MP-38).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "llm/responses_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

constexpr std::size_t kBodyLimit = std::size_t{64} * 1024 * 1024;

// Removes all other members: some of them were not looked at.
void keep_only(Splice& edits, const json::value& object,
               std::initializer_list<std::string_view> kept) {
  for (const auto& [name, value] : object.get_object()) {
    if (std::ranges::find(kept, std::string_view(name)) == kept.end()) {
      edits.remove(pointer_to("", std::string_view(name)));
    }
  }
}

}  // namespace

Task<std::string> ResponsesAdapter::on_body(std::string body) {
  auto parsed = read_wire_json(body, {.bytes = kBodyLimit});
  if (!parsed || !parsed->value.is_object()) {
    co_return sallyport::fail(ErrorCode::Corrupt, "the provider's answer is not a JSON object");
  }
  const json::value& value = parsed->value;
  SALLYPORT_CO_CHECK_OK(check_output(value));
  observe(value);
  Splice edits;
  SALLYPORT_CO_TRY(MaybeBlocked blocked, check_response(value, "", edits));
  // A list of items repeats what the client sent, so it has no proposals.
  const std::string_view member = array_in(value, "output") != nullptr ? "output" : "data";
  const json::array* const list = array_in(value, member);
  const std::vector<std::string_view> raws = elements_of(value_at(body, pointer_to("", member)));
  std::vector<std::string> items;
  if (!blocked && list != nullptr) {
    SALLYPORT_CO_TRY(blocked, co_await list_out(*list, raws, member == "output", items));
  }
  complete_ = true;
  observed_.stop_reason = observed_.sent_stop_reason = stop_reason(value);
  if (blocked) co_return blocked_body(body, value, member, std::move(items), *blocked);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] != raws[i]) edits.replace(fmt::format("/{}/{}", member, i), items[i]);
  }
  co_return edits.applied(body);
}

Result<std::string> ResponsesAdapter::blocked_body(const std::string& body,
                                                   const json::value& value,
                                                   std::string_view member,
                                                   std::vector<std::string> items,
                                                   const Blocked& blocked) {
  observed_.block = blocked.block;
  observed_.sent_stop_reason = settings_.block_as_answer ? "completed" : "content_filter";
  const std::vector<std::string_view> raws = elements_of(value_at(body, pointer_to("", member)));
  bool placed = false;
  const json::array* const list = array_in(value, member);
  const std::size_t at = items.size();
  if (blocked.item && list != nullptr && at < list->size()) {
    SALLYPORT_TRY(std::string cut, cut_item(at, (*list)[at], raws[at], blocked, placed));
    if (!cut.empty()) items.push_back(std::move(cut));
  }
  for (std::size_t i = at; member == "output" && list != nullptr && i < list->size(); ++i) {
    const json::value& item = (*list)[i];
    if (is_client_call(item)) {
      door_->drop(call_id_of(item), tool_of(item), "the message ended before the call");
    }
  }
  if (!placed) {
    const std::string& notice = blocked.block.notice;
    items.push_back(message_item(message_id(items.size()), blocked_status(),
                                 settings_.json_format ? refusal_part(notice) : text_part(notice)));
  }
  Splice edits;
  if (list != nullptr && member == "data") {
    edits.replace("/data", json_list(items));
  } else {
    set_blocked(edits, value, "", json_list(items));
  }
  for (const auto& [name, held] : value.get_object()) {
    if (name == "error") {
      edits.replace("/error", "null");
    } else if (!is_known_of_response(name) &&
               (name != "data" || list == nullptr || member != name)) {
      edits.remove(pointer_to("", std::string_view(name)));
    }
  }
  return edits.applied(body);
}

Result<std::string> ResponsesAdapter::cut_item(std::uint64_t index, const json::value& item,
                                               std::string_view raw, const Blocked& blocked,
                                               bool& placed) {
  const std::string_view type = item_type(item);
  if (type == "message" && array_in(item, "content") != nullptr) {
    SALLYPORT_TRY(const std::string parts, cut_parts(index, item, raw, "content", blocked, placed));
    Splice edits;
    set_member(edits, item, "", "content", parts);
    set_member(edits, item, "", "status", json_string(blocked_status()));
    keep_only(edits, item, {"id", "type", "status", "role", "phase", "content"});
    return edits.applied(raw);
  }
  if (type == "reasoning") {
    Splice edits;
    for (const std::string_view member : {"summary", "content"}) {
      if (member_of(item, member) == nullptr) continue;
      if (array_in(item, member) == nullptr) {
        edits.replace(pointer_to("", member), "[]");
        continue;
      }
      SALLYPORT_TRY(const std::string parts, cut_parts(index, item, raw, member, blocked, placed));
      edits.replace(pointer_to("", member), parts);
    }
    set_member(edits, item, "", "status", "\"incomplete\"");
    keep_only(edits, item, {"id", "type", "status", "summary", "content"});
    return edits.applied(raw);
  }
  if (!texts_of(item, index).unknown.empty()) return std::string();  // it does not leave
  return cut_provider_item(index, item, raw, blocked);
}

// The parts of a list up to the blocked text; in a message also the notice.
Result<std::string> ResponsesAdapter::cut_parts(std::uint64_t index, const json::value& item,
                                                std::string_view raw, std::string_view member,
                                                const Blocked& blocked, bool& placed) {
  const json::array& list = *array_in(item, member);
  const std::vector<std::string_view> raws = elements_of(value_at(raw, pointer_to("", member)));
  const bool message = item_type(item) == "message";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = pointer_to(pointer_to("", member), i);
    Splice edits;
    if (!blocked.pointer.starts_with(pointer + "/")) {
      SALLYPORT_TRY(const MaybeBlocked again, check_part(list[i], "", index, pointer, edits));
      if (again) break;  // nothing behind the block was looked at
      parts.push_back(edits.applied(raws[i]));
      continue;
    }
    const std::string_view type = text_in(list[i], "type");
    const std::string_view name = type == "refusal" ? "refusal" : "text";
    if (blocked.pointer != pointer + "/" + std::string(name)) break;  // a part that is not known
    std::string text = texts_.sent({index, blocked.pointer});
    if (message && type == "output_text" && !settings_.json_format) {
      text += blocked.block.notice;
      placed = true;
    }
    edits.replace(pointer_to("", name), json_string(text));
    if (array_in(list[i], "annotations") != nullptr) edits.replace("/annotations", "[]");
    drop_logprobs(list[i], "", edits);
    keep_only(edits, list[i], {"type", name, "annotations", "logprobs"});
    parts.push_back(edits.applied(raws[i]));
    break;
  }
  if (message && !placed) {
    const std::string& notice = blocked.block.notice;
    parts.push_back(settings_.json_format ? refusal_part(notice) : text_part(notice));
    placed = true;
  }
  return json_list(parts);
}

// A call of the provider with its texts up to the blocked one. A cut result is left out.
std::string ResponsesAdapter::cut_provider_item(std::uint64_t index, const json::value& item,
                                                std::string_view raw,
                                                const Blocked& blocked) const {
  Splice edits;
  bool reached = false;
  for (const ItemText& text : texts_of(item, index).texts) {
    reached = reached || text.pointer == blocked.pointer;
    if (reached && text.channel.kind == ChannelKind::ProviderResult) {
      const std::size_t end = text.pointer.find('/', 1);
      edits.replace(text.pointer.substr(0, end), "null");
    } else {
      const std::string sent = texts_.sent({index, text.pointer});
      if (sent != text.text) edits.replace(text.pointer, json_string(sent));
    }
  }
  if (member_of(item, "status") != nullptr) {
    const std::string_view type = item_type(item);
    const bool fails = type == "web_search_call" || type == "image_generation_call";
    edits.replace("/status", fails ? "\"failed\"" : "\"incomplete\"");
  }
  return edits.applied(raw);
}

}  // namespace sallyport::llm
