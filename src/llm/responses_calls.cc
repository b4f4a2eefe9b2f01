// Calls of the client. They are held until they are complete, decided, and then released, rewritten
// or replaced by a message (MP-57, MP-58).
#include <fmt/format.h>

#include <boost/json.hpp>
#include <map>

#include "base/try.h"
#include "llm/responses_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

constexpr std::uint64_t kCallLimit = 1024;

const json::value& item_in(const json::value& event) {
  static const json::value kNone = json::object();
  const json::value* const item = member_of(event, "item");
  return item != nullptr && item->is_object() ? *item : kNone;
}

std::string_view command_of(const json::value& item, std::uint64_t number) {
  const json::value* const action = member_of(item, "action");
  const json::array* const commands = action ? array_in(*action, "commands") : nullptr;
  if (commands == nullptr || number >= commands->size()) return {};
  const json::string* const command = (*commands)[number].if_string();
  return command == nullptr ? std::string_view() : std::string_view(*command);
}

// True if the first item of a call is consistent with the last one.
bool begins_alike(const json::value& begun, const json::value& item) {
  if (item_type(begun) != item_type(item) || tool_of(begun) != tool_of(item) ||
      call_id_of(begun) != call_id_of(item)) {
    return false;
  }
  for (const std::string_view member : {"action", "actions", "operation", "arguments", "input"}) {
    const json::value* const was = member_of(begun, member);
    const json::value* const is = member_of(item, member);
    if (was == nullptr || was->is_null() || (is != nullptr && *was == *is)) continue;
    if (streamed_arguments(item)) continue;  // compared with its deltas
    const json::array* const commands = array_in(*was, "commands");
    const bool empty = commands != nullptr ? commands->empty() : *was == "";
    if (!empty) return false;
  }
  return true;
}

}  // namespace

bool ResponsesAdapter::begins_call(const Incoming& in) const {
  if (!in.index || !door_->holds_calls()) return false;
  if (in.type == "response.output_item.added" || in.type == "response.output_item.done") {
    return is_client_call(item_in(in.value));
  }
  if (is_call_event(in.type)) return true;
  return in.type.starts_with("response.shell_call_command.") && !items_.contains(*in.index);
}

// Checks members that the API does not define (MP-9).
Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::check_call(std::uint64_t index,
                                                                    const json::value& item) {
  const ItemTexts texts = unknown_texts_of_call(item, index);
  if (texts.texts.empty()) return MaybeBlocked{};
  Splice none;
  return check_texts(texts, 0, "", none);
}

// Keeps an event of the held call or of a later item.
Result<void> ResponsesAdapter::wait(Incoming in, bool held) {
  withheld();
  waiting_ += in.data.size();
  if (held && held_->events.empty()) ++calls_;
  if (waiting_ > ResponsesTexts::kLimit || calls_ > kCallLimit) {
    return sallyport::fail(ErrorCode::Exhausted,
                           "the calls of the answer are over 1,024 or 16 MiB");
  }
  if (!held) {
    std::list<Incoming>& waiting = queue_[*in.index];
    waiting.push_back(std::move(in));
    return {};
  }
  const json::value& item = item_in(in.value);
  if (held_->id.empty()) held_->id = call_id_of(item);
  if (held_->name.empty() && !item.get_object().empty()) held_->name = tool_of(item);
  held_->events.push_back(std::move(in));
  return {};
}

Task<CallRuling> ResponsesAdapter::rule_on(const json::value& item, std::string raw) {
  CallRuling ruling{.kind = CallRuling::Kind::Refuse};
  std::optional<ProposedCall> call;
  const char* why = "an output limit cut the call";
  if (text_in(item, "status") != "incomplete") {
    call = read_call(item, raw);
    why = "the arguments of the call are not JSON";
  }
  if (!call) {
    ruling.notice = door_->drop(call_id_of(item), tool_of(item), why);
    co_return ruling;
  }
  ruling = co_await door_->decide(std::move(*call));
  co_return ruling;
}

// Decides the held call after its last event.
Task<void> ResponsesAdapter::settle(EventSink& out) {
  const std::uint64_t index = held_->index;
  const json::value item = item_in(held_->events.back().value);
  if (!is_client_call(item)) {
    co_return sallyport::fail(ErrorCode::Corrupt, "a call of the provider's answer is not a call");
  }
  std::string raw(value_at(held_->events.back().data, "/item"));
  for (const Incoming& in : held_->events) {
    SALLYPORT_CO_TRY(MaybeBlocked blocked, check_extras(in));
    if (!blocked) {
      SALLYPORT_CO_TRY(blocked, check_call(index, item_in(in.value)));
    }
    if (!blocked) continue;
    blocked->item.reset();  // nothing of the call left
    co_return end_blocked(out, Blocked(*blocked));
  }
  held_->deciding = true;
  SALLYPORT_CO_TRY(const CallRuling ruling, co_await rule_on(item, raw));
  if (complete_) co_return Result<void>{};  // the answer failed meanwhile
  if (ruling.kind == CallRuling::Kind::Refuse) {
    make_message(out, index, ruling.notice, "completed", false);
  } else {
    Splice edits;
    const bool rewritten = ruling.kind == CallRuling::Kind::Rewrite;
    if (rewritten) write_arguments(edits, "", item, ruling.input);
    raw = edits.applied(raw);
    if (!rewritten && is_consistent(item)) {
      SALLYPORT_CO_CHECK_OK(release_unchanged(out));
      if (complete_) co_return Result<void>{};
    } else {
      release_rebuilt(out, raw);
    }
    Item& left = items_[index];
    left = Item{.id = std::string(text_in(item, "id")), .type = std::string(item_type(item))};
    SALLYPORT_CO_CHECK_OK(keep_item(left, std::move(raw)));
  }
  items_[index].call = true;
  items_[index].closed = true;
  for (const Incoming& in : held_->events) waiting_ -= in.data.size();
  held_.reset();
  co_return Result<void>{};
}

// True if the events agree with their last item. Otherwise a client that joins deltas would execute
// another call than the decided one.
bool ResponsesAdapter::is_consistent(const json::value& item) const {
  const std::optional<StreamedArguments> arguments = streamed_arguments(item);
  std::map<std::uint64_t, std::string> texts;  // by number of the command, else 0
  for (const Incoming& in : held_->events) {
    const std::uint64_t number = count_in(in.value, "command_index").value_or(0);
    const std::string_view expected =
        arguments ? std::string_view(arguments->text) : command_of(item, number);
    if (in.type == "response.output_item.added") {
      if (!begins_alike(item_in(in.value), item)) return false;
      const auto begun = streamed_arguments(item_in(in.value));
      if (begun && !begun->text.empty()) texts[0] += begun->text;
    } else if (is_call_event(in.type) || in.type.starts_with("response.shell_call_command.")) {
      const std::string member = arguments ? arguments->done_member : "command";
      const std::string_view whole = text_in(in.value, member);
      if (in.type.ends_with(".done") && whole != expected) return false;
      if (!in.type.ends_with(".done")) texts[number] += text_in(in.value, "delta");
      if (in.type.ends_with(".added")) texts[number] += whole;
    }
  }
  for (const auto& [number, text] : texts) {
    const std::string_view expected =
        arguments ? std::string_view(arguments->text) : command_of(item, number);
    if (text != expected) return false;
  }
  return true;
}

Result<void> ResponsesAdapter::release_unchanged(EventSink& out) {
  for (const Incoming& in : held_->events) {
    if (complete_) return {};
    if (in.type.starts_with("response.output_item.")) {
      send(out, in);
    } else {
      SALLYPORT_CHECK_OK(on_other(in, out));
    }
  }
  return {};
}

// Sends the whole call: its item, one delta, its end.
void ResponsesAdapter::release_rebuilt(EventSink& out, const std::string& raw) {
  const std::uint64_t index = held_->index;
  const Result<ParsedJson> parsed = read_wire_json(raw);
  if (!parsed) return;
  const json::value& item = parsed->value;
  const std::optional<StreamedArguments> arguments = streamed_arguments(item);
  Splice edits;
  if (member_of(item, "status") != nullptr) edits.replace("/status", "\"in_progress\"");
  if (arguments) {
    const bool patch = item_type(item) == "apply_patch_call";
    edits.replace(patch ? "/operation/diff" : pointer_to("", arguments->done_member), "\"\"");
  }
  make(out, "response.output_item.added",
       fmt::format(R"("output_index":{},"item":{})", index, edits.applied(raw)));
  if (arguments) {
    const std::string place =
        fmt::format(R"("item_id":{},"output_index":{})", json_string(text_in(item, "id")), index);
    make(out, arguments->delta_event,
         fmt::format(R"({},"delta":{})", place, json_string(arguments->text)));
    std::string members =
        fmt::format(R"({},"{}":{})", place, arguments->done_member, json_string(arguments->text));
    if (item_type(item) == "function_call") {
      members += fmt::format(R"(,"name":{})", json_string(text_in(item, "name")));
    }
    make(out, arguments->done_event, members);
  }
  make(out, "response.output_item.done", fmt::format(R"("output_index":{},"item":{})", index, raw));
}

// Drops a held call if the response ends before the call (MP-59).
void ResponsesAdapter::cut_held(EventSink& out) {
  const std::string notice = door_->drop(held_->id, held_->name, "an output limit cut the call");
  make_message(out, held_->index, notice, "completed", false);
  for (const Incoming& in : held_->events) waiting_ -= in.data.size();
  held_.reset();
}

// Drops calls that never leave, because their message is over (MP-63).
void ResponsesAdapter::drop_undecided() {
  if (held_ && !held_->deciding) {
    door_->drop(held_->id, held_->name, "the message ended before the call");
  }
  held_.reset();
  for (const auto& [index, events] : queue_) {
    const json::value& item = item_in(events.front().value);
    if (!is_client_call(item)) continue;
    door_->drop(call_id_of(item), tool_of(item), "the message ended before the call");
  }
  queue_.clear();
}

// The id of one of our messages. It has a prefix of its own; the same answer gives the same ids.
std::string ResponsesAdapter::message_id(std::uint64_t index) const {
  std::string_view id = observed_.response_id;
  id.remove_prefix(id.starts_with("resp_") ? 5 : 0);
  return fmt::format("msg_sallyport_{}{}{}", id, id.empty() ? "" : "_", index);
}

void ResponsesAdapter::make_message(EventSink& out, std::uint64_t index, std::string_view text,
                                    std::string_view status, bool refusal) {
  const std::string id = message_id(index);
  const std::string place =
      fmt::format(R"("item_id":{},"output_index":{},"content_index":0)", json_string(id), index);
  const auto part = [&](std::string_view words) {
    return refusal ? refusal_part(words) : text_part(words);
  };
  const std::string_view kind = refusal ? "refusal" : "output_text";
  const std::string logprobs = refusal ? "" : R"(,"logprobs":[])";
  make(out, "response.output_item.added",
       fmt::format(R"("output_index":{},"item":{})", index, message_item(id, "in_progress", "")));
  make(out, "response.content_part.added", fmt::format(R"({},"part":{})", place, part("")));
  make(out, fmt::format("response.{}.delta", kind),
       fmt::format(R"({},"delta":{}{})", place, json_string(text), logprobs));
  make(out, fmt::format("response.{}.done", kind),
       fmt::format(R"({},"{}":{}{})", place, refusal ? "refusal" : "text", json_string(text),
                   logprobs));
  make(out, "response.content_part.done", fmt::format(R"({},"part":{})", place, part(text)));
  Item& item = items_[index];
  item = Item{.id = id, .type = "message", .raw = message_item(id, status, part(text))};
  item.call = item.closed = true;  // nothing of the provider follows at this index
  make(out, "response.output_item.done",
       fmt::format(R"("output_index":{},"item":{})", index, item.raw));
}

}  // namespace sallyport::llm
