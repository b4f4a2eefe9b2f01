// Items of Responses on their way out, one at a time or in a list.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "llm/responses_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

constexpr std::uint64_t kItemLimit = std::uint64_t{64} * 1024 * 1024;

}  // namespace

Result<void> ResponsesAdapter::keep_item(Item& item, std::string raw) {
  item_bytes_ += raw.size();
  item.raw = std::move(raw);
  if (item_bytes_ <= kItemLimit) return {};
  return sallyport::fail(ErrorCode::Exhausted, "the items of the answer are over 64 MiB");
}

Result<void> ResponsesAdapter::on_added(const Incoming& in, EventSink& out) {
  const json::value* const item = member_of(in.value, "item");
  if (!in.index || item == nullptr || !item->is_object()) return on_other(in, out);
  SALLYPORT_TRY(MaybeBlocked blocked, check_extras(in));
  Splice edits;
  const bool call = is_client_call(*item);
  if (call && !blocked) {
    SALLYPORT_TRY(blocked, check_call(*in.index, *item));
  } else if (!blocked) {
    const ItemTexts texts = texts_of(*item, *in.index);
    for (const std::string& type : texts.unknown) door_->note_unknown(type);
    for (const ItemText& text : texts.texts) {
      SALLYPORT_TRY(blocked, begin_text(text, text_in(*item, "id"), "/item" + text.pointer, edits));
      if (blocked) break;
    }
    const json::array* const parts = array_in(*item, "content");
    for (std::size_t i = 0; parts != nullptr && i < parts->size() && !blocked; ++i) {
      const std::string pointer = pointer_to("/content", i);
      drop_logprobs((*parts)[i], "/item" + pointer, edits);
      SALLYPORT_TRY(blocked, check_annotations((*parts)[i], "/item" + pointer,
                                               {*in.index, pointer + "/text"}, edits));
    }
  }
  if (blocked) {
    blocked->item.reset();  // the item did not leave
    return end_blocked(out, *blocked);
  }
  const std::string data = numbered(in, std::move(edits));
  Item& begun = items_[*in.index];
  begun.id = text_in(*item, "id");
  begun.type = item_type(*item);
  begun.call = call;
  SALLYPORT_CHECK_OK(keep_item(begun, std::string(value_at(data, "/item"))));
  out.event(in.name, data);
  return {};
}

Task<void> ResponsesAdapter::on_done(Incoming in, EventSink& out) {
  const json::value* const item = member_of(in.value, "item");
  if (!in.index || item == nullptr || !item->is_object()) co_return on_other(in, out);
  const std::uint64_t index = *in.index;
  SALLYPORT_CO_CHECK_OK(close_texts(index, out));
  if (complete_) co_return Result<void>{};
  const std::string raw(value_at(in.data, "/item"));
  ItemOut left{.raw = raw};
  const bool call = is_client_call(*item);
  SALLYPORT_CO_TRY(left.blocked, check_extras(in));
  if (call && !left.blocked) {
    SALLYPORT_CO_TRY(left.blocked, check_call(index, *item));
  }
  if (left.blocked) {
    left.raw.clear();
  } else if (call) {
    SALLYPORT_CO_TRY(left.raw, co_await call_out(index, *item, raw));  // it is only recorded
  } else {
    SALLYPORT_CO_TRY(left, check_item(index, *item, raw));
  }
  if (complete_) co_return Result<void>{};  // the answer failed meanwhile
  Item& known = items_[index];
  const bool begun = !known.type.empty();
  if (!begun) {
    known = {.id = std::string(text_in(*item, "id")), .type = std::string(item_type(*item))};
  }
  if (left.blocked) {
    Blocked blocked = std::move(*left.blocked);
    if (!begun) {
      items_.erase(index);
      blocked.item.reset();
    } else if (!call && known.type != "message" && known.type != "reasoning") {
      bool placed = false;
      SALLYPORT_CO_TRY(left.raw, cut_item(index, *item, raw, blocked, placed));
      if (!left.raw.empty()) {  // else it ends as it began
        known.closed = true;
        SALLYPORT_CO_CHECK_OK(keep_item(known, left.raw));
        // Members of the provider's event may hold what was blocked.
        make(out, in.type, fmt::format(R"("output_index":{},"item":{})", index, left.raw));
      }
    }
    co_return end_blocked(out, blocked);
  }
  Splice edits;
  if (left.raw != raw) edits.replace("/item", left.raw);
  known.type = item_type(*item);
  known.closed = true;
  known.parts.clear();
  SALLYPORT_CO_CHECK_OK(keep_item(known, std::move(left.raw)));
  send(out, in, std::move(edits));
  co_return Result<void>{};
}

// Repeated texts become what left before; new texts are checked.
Result<ResponsesAdapter::ItemOut> ResponsesAdapter::check_item(std::uint64_t index,
                                                               const json::value& item,
                                                               std::string raw) {
  Splice edits;
  ItemOut left;
  SALLYPORT_TRY(left.blocked, check_texts(texts_of(item, index), 0, "", edits));
  for (const std::string_view member : {"content", "summary"}) {
    const json::array* const parts = array_in(item, member);
    for (std::size_t i = 0; parts != nullptr && i < parts->size() && !left.blocked; ++i) {
      const std::string pointer = pointer_to(pointer_to("", member), i);
      const bool cites = array_in((*parts)[i], "annotations") != nullptr;
      if (!cites && array_in((*parts)[i], "logprobs") == nullptr) continue;
      SALLYPORT_TRY(left.blocked, check_part((*parts)[i], pointer, index, pointer, edits));
    }
  }
  left.raw = edits.empty() ? std::move(raw) : edits.applied(raw);
  return left;
}

// The item of a call, or the message that takes its place.
Task<std::string> ResponsesAdapter::call_out(std::uint64_t index, const json::value& item,
                                             std::string raw) {
  if (!door_->holds_calls()) {
    std::optional<ProposedCall> call = read_call(item, raw);
    if (call) (void)co_await door_->decide(std::move(*call));
    co_return raw;
  }
  if (++calls_ > 1024) {
    co_return sallyport::fail(ErrorCode::Exhausted, "the answer has more than 1,024 calls");
  }
  SALLYPORT_CO_TRY(const CallRuling ruling, co_await rule_on(item, raw));
  if (ruling.kind == CallRuling::Kind::Refuse) {
    co_return message_item(message_id(index), "completed", text_part(ruling.notice));
  }
  Splice edits;
  if (ruling.kind == CallRuling::Kind::Rewrite) write_arguments(edits, "", item, ruling.input);
  co_return edits.applied(raw);
}

Task<ResponsesAdapter::ItemOut> ResponsesAdapter::item_out(std::uint64_t index,
                                                           const json::value& item, std::string raw,
                                                           bool decides) {
  const auto found = items_.find(index);
  const bool left = found != items_.end() && found->second.closed;
  if (left && (found->second.call || found->second.type != item_type(item))) {
    // A repeated text becomes what left before, and a decided call leaves as decided.
    const Result<ParsedJson> was = read_wire_json(found->second.raw);
    co_return ItemOut{.raw = was && was->value == item ? std::move(raw) : found->second.raw};
  }
  if (!is_client_call(item)) co_return check_item(index, item, std::move(raw));
  ItemOut out{.raw = std::move(raw)};
  SALLYPORT_CO_TRY(out.blocked, check_call(index, item));
  if (out.blocked) co_return out;
  if (decides && !left) {
    SALLYPORT_CO_TRY(out.raw, co_await call_out(index, item, out.raw));
  }
  co_return out;
}

Task<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::list_out(
    const json::array& list, const std::vector<std::string_view>& raws, bool decides,
    std::vector<std::string>& items) {
  for (std::size_t i = 0; i < list.size() && i < raws.size(); ++i) {
    SALLYPORT_CO_TRY(ItemOut left, co_await item_out(i, list[i], std::string(raws[i]), decides));
    if (left.blocked) co_return std::move(left.blocked);
    items.push_back(std::move(left.raw));
  }
  co_return MaybeBlocked{};
}

}  // namespace sallyport::llm
