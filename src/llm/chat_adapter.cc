#include "llm/chat_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/try.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

constexpr std::size_t kChoices = 1024;
constexpr std::size_t kQueued = std::size_t{16} * 1024 * 1024;
constexpr std::array<std::string_view, 11> kTopMembers{
    "id",           "object",    "created",
    "model",        "choices",   "usage",
    "service_tier", "metadata",  "system_fingerprint",
    "obfuscation",  "moderation"};

// Collects the events of one chunk, to find out whether they equal the chunk.
class ChunkCollector : public EventSink {
 public:
  void event(std::string_view name, std::string_view data) override {
    all.emplace_back(name, data);
  }
  void last(std::string_view, std::string_view data) override { end = data; }

  std::vector<std::pair<std::string, std::string>> all;  // name and data
  std::optional<std::string> end;
};

}  // namespace

std::unique_ptr<AnswerAdapter> chat_adapter(MessageDoors& doors, AnswerSettings settings) {
  return std::make_unique<ChatAdapter>(doors, settings);
}

Task<void> ChatAdapter::on_event(const net::SseEvent& event, EventSink& out) {
  if (complete_) co_return Result<void>{};
  if (event.too_long) {
    co_return sallyport::fail(ErrorCode::Exhausted, "an event of the provider is over the limit");
  }
  name_ = event.name;
  if (pass_repeated(event.data, out)) co_return Result<void>{};
  if (event.data == "[DONE]") co_return finish_open(out);
  const Result<ParsedJson> parsed = read_wire_json(event.data);
  if (!parsed || !parsed->value.is_object()) {
    co_return sallyport::fail(ErrorCode::Corrupt, "an event of the provider is not a JSON object");
  }
  const json::value& value = parsed->value;
  if (member_of(value, "error") != nullptr && array_in(value, "choices") == nullptr) {
    const CheckedLeaves checked =
        check_leaves(any_door(), {.kind = ChannelKind::Whole}, value, "", Leaves::Known);
    Splice edits = checked.edits;
    if (checked.block) edits.replace("/error/message", json_string(checked.block->notice));
    complete_ = true;
    observed_.failed = true;
    put_last(event.name, edits.applied(event.data), out);
    co_return Result<void>{};
  }
  if (queue_bytes_ > kQueued) {
    co_return sallyport::fail(ErrorCode::Exhausted, "too many chunks wait for a call");
  }
  take_head(event.data, value);
  take_usage(value);
  if (!pass_top_members(value, out)) co_return Result<void>{};
  co_return co_await take_chunk(event.data, value, out);
}

Task<void> ChatAdapter::take_chunk(std::string_view data, const json::value& value,
                                   EventSink& out) {
  const json::array* const choices = array_in(value, "choices");
  const json::value* const stated = member_of(value, "choices");
  if (choices == nullptr && stated != nullptr && !stated->is_null()) {
    co_return sallyport::fail(ErrorCode::Corrupt, "the choices of the provider are not a list");
  }
  if (choices != nullptr && choices->size() > 1) co_return co_await take_apart(data, value, out);
  if (choices == nullptr || choices->empty()) {
    const json::value* const usage = member_of(value, "usage");
    const bool is_usage = usage != nullptr && usage->is_object();
    if (!(settings_.hides_usage && is_usage)) {
      put(without_usage(value).applied(data), out, name_);
    }
    co_return Result<void>{};
  }
  static const json::value kNoDelta = json::object();
  const json::value* delta = member_of((*choices)[0], "delta");
  if (delta == nullptr || delta->is_null()) delta = &kNoDelta;
  if (!delta->is_object()) {
    co_return sallyport::fail(ErrorCode::Corrupt, "a delta of the provider is not an object");
  }
  co_return co_await take_choice({data, value, (*choices)[0], *delta}, out);
}

// Takes each choice as a separate chunk. If nothing is changed, the chunk leaves as received.
Task<void> ChatAdapter::take_apart(std::string_view data, const json::value& value,
                                   EventSink& out) {
  const std::size_t count = array_in(value, "choices")->size();
  bool same = true;
  ChunkCollector left;
  for (std::size_t i = 0; i < count && !complete_; ++i) {
    Splice only;
    for (std::size_t other = 0; other < count; ++other) {
      if (other != i) only.remove(pointer_to("/choices", other));
    }
    if (i > 0 && member_of(value, "usage") != nullptr) only.remove("/usage");
    const std::string part = only.applied(data);
    SALLYPORT_CO_TRY(const ParsedJson parsed, read_wire_json(part));
    const std::size_t before = left.all.size();
    SALLYPORT_CO_CHECK_OK(co_await take_chunk(part, parsed.value, left));
    same = same && left.all.size() == before + 1 && left.all.back().second == part;
  }
  if (same && !complete_) {
    put(data, out, name_);
    co_return Result<void>{};
  }
  for (const auto& [name, one] : left.all) out.event(name, one);
  if (left.end) out.last({}, *left.end);
  co_return Result<void>{};
}

bool ChatAdapter::is_known_of_answer(std::string_view name) {
  return std::ranges::find(kTopMembers, name) != kTopMembers.end();
}

// Checks members that the API does not define (MP-44). False: a hit ended the answer, or the chunk
// is left out.
bool ChatAdapter::pass_top_members(const json::value& value, EventSink& out) {
  for (const auto& [name, member] : value.get_object()) {
    if (is_known_of_answer(name)) continue;
    MessageDoor& door = any_door();
    door.note_unknown(std::string(name));
    const CheckedLeaves checked =
        check_leaves(door, {.kind = ChannelKind::Whole}, member, "", Leaves::Unknown);
    if (!checked.block) continue;
    end_all(*checked.block, out);
    return false;
  }
  return true;
}

void ChatAdapter::take_head(std::string_view data, const json::value& value) {
  // A first chunk without choices, with the results of a filter, may have an empty id.
  if (head_is_of_choice_) return;
  const json::array* const choices = array_in(value, "choices");
  head_is_of_choice_ = choices != nullptr && !choices->empty();
  if (!head_.empty() && !head_is_of_choice_) return;
  observed_.response_id = text_in(value, "id");
  observed_.model = text_in(value, "model");
  Splice edits;
  for (const auto& [name, member] : value.get_object()) {
    if (!is_known_of_answer(name) || name == "usage" || name == "obfuscation" ||
        name == "moderation") {
      edits.remove(pointer_to("", std::string_view(name)));
    }
  }
  if (choices == nullptr) {
    edits.append("", R"("choices":[])");
  } else {
    edits.replace("/choices", "[]");
  }
  head_ = edits.applied(data);
}

void ChatAdapter::take_usage(const json::value& value) {
  const json::value* const reported = member_of(value, "usage");
  if (reported == nullptr || !reported->is_object()) return;
  Usage usage;
  usage.input_tokens = count_in(*reported, "prompt_tokens");
  usage.output_tokens = count_in(*reported, "completion_tokens");
  usage.total_tokens = count_in(*reported, "total_tokens");
  if (const json::value* const details = member_of(*reported, "prompt_tokens_details")) {
    usage.cache_read_input_tokens = count_in(*details, "cached_tokens");
  }
  if (const json::value* const details = member_of(*reported, "completion_tokens_details")) {
    usage.reasoning_tokens = count_in(*details, "reasoning_tokens");
  }
  observed_.usage = usage;
}

// Removes the usage that the client did not ask for (MP-73).
Splice ChatAdapter::without_usage(const json::value& value) const {
  Splice edits;
  if (settings_.hides_usage && member_of(value, "usage") != nullptr) edits.remove("/usage");
  return edits;
}

Result<ChatAdapter::Choice*> ChatAdapter::choice_at(const json::value& choice) {
  const auto index = count_in(choice, "index");
  if (!index) return sallyport::fail(ErrorCode::Corrupt, "a choice of the provider has no index");
  const auto found = choices_.find(*index);
  if (found != choices_.end()) return &found->second;
  if (choices_.size() >= kChoices) {
    return sallyport::fail(ErrorCode::Exhausted, "an answer has too many choices");
  }
  Choice& made = choices_[*index];
  made.index = *index;
  made.door = doors_.open(*index);
  if (settings_.json_format && made.door->enforces_output()) made.strings.emplace();
  return &made;
}

// A door for texts that belong to no choice.
MessageDoor& ChatAdapter::any_door() {
  for (auto& [index, choice] : choices_) {
    if (!choice.over) return *choice.door;
  }
  if (!choices_.empty()) return *choices_.begin()->second.door;
  return *(*choice_at(json::object{{"index", 0}}))->door;
}

std::string ChatAdapter::chunk_of(const Choice& choice, std::string_view delta,
                                  std::string_view finish_reason) const {
  Splice edits;
  edits.replace("/choices",
                fmt::format(R"([{{"index":{},"delta":{},"logprobs":null,"finish_reason":{}}}])",
                            choice.index, delta, finish_reason));
  return edits.applied(head_);
}

void ChatAdapter::send_text(Choice& choice, std::string_view member, std::string_view text,
                            EventSink& out) {
  const std::string_view role = choice.has_role ? "" : R"("role":"assistant",)";
  choice.has_role = true;
  std::string members = fmt::format("\"{}\":{}", member, json_string(text));
  if (member == "transcript") members = fmt::format("\"audio\":{{{}}}", members);
  put(chunk_of(choice, fmt::format("{{{}{}}}", role, members)), out);
}

void ChatAdapter::put(std::string_view data, EventSink& out, std::string_view name) {
  if (queue_.empty()) return out.event(name, data);
  queue_bytes_ += data.size();
  queue_.push_back({.data = std::string(data), .name = std::string(name)});
}

void ChatAdapter::flush(EventSink& out) {
  while (!queue_.empty() && !queue_.front().choice) {
    out.event(queue_.front().name, queue_.front().data);
    queue_bytes_ -= std::min(queue_bytes_, queue_.front().data.size());
    queue_.pop_front();
  }
}

void ChatAdapter::put_last(std::string_view name, std::string_view data, EventSink& out) {
  std::erase_if(queue_, [](const Queued& queued) { return queued.choice.has_value(); });
  flush(out);
  out.last(name, data);
}

// A block of a check ends the choice. The other choices continue (MP-45, MP-53).
void ChatAdapter::end_blocked(Choice& choice, const core::TextBlock& block, EventSink& out) {
  if (!observed_.block) observed_.block = block;
  for (const auto& [key, call] : choice.calls) {
    if (choice.door->holds_calls()) choice.door->drop(call.id, call.name, "its message was ended");
  }
  forget_calls(choice, out);
  if (!block.notice.empty()) {
    send_text(choice, settings_.json_format ? "refusal" : "content", block.notice, out);
  }
  const std::string_view reason = settings_.block_as_answer ? "stop" : "content_filter";
  put(chunk_of(choice, "{}", json_string(reason)), out);
  choice.blocked = true;
  close(choice, reason);
  const auto is_over = [](const auto& entry) { return entry.second.over; };
  if (choices_.size() >= settings_.choices && std::ranges::all_of(choices_, is_over)) {
    complete_ = true;
    put_last({}, "[DONE]", out);
  }
}

void ChatAdapter::close(Choice& choice, std::string_view reason) {
  choice.over = true;
  choice.held.clear();
  if (choice.index == 0 || observed_.sent_stop_reason.empty()) {
    observed_.sent_stop_reason = reason;
  }
}

void ChatAdapter::end_all(const core::TextBlock& block, EventSink& out) {
  for (auto& [index, choice] : choices_) {
    if (!choice.over && !complete_) end_blocked(choice, block, out);
  }
}

Task<void> ChatAdapter::on_end(EventSink& out) {
  if (complete_) co_return Result<void>{};
  const auto is_open = [](const auto& entry) { return !entry.second.over; };
  if (choices_.size() < settings_.choices || std::ranges::any_of(choices_, is_open)) {
    co_return sallyport::fail(ErrorCode::Corrupt, "the provider's stream ended within a message");
  }
  complete_ = true;
  put_last({}, "[DONE]", out);
  co_return Result<void>{};
}

void ChatAdapter::keep_alive(EventSink& out) {
  if (complete_ || head_.empty()) return;
  for (const auto& [index, choice] : choices_) {
    if (!choice.over) out.event({}, chunk_of(choice, "{}"));
  }
}

void ChatAdapter::fail(EventSink& out, const ApiError& error) {
  if (std::exchange(failed_, true)) return;
  complete_ = true;
  for (const auto& [index, choice] : choices_) {
    if (choice.over || !choice.door->holds_calls()) continue;
    for (const auto& [key, call] : choice.calls) {
      choice.door->drop(call.id, call.name, "the answer failed");
    }
  }
  json::value code;
  if (!error.code.empty()) code = error.code;
  out.last({}, json::serialize(json::object{{"error",
                                             {{"message", error.message},
                                              {"type", "server_error"},
                                              {"param", nullptr},
                                              {"code", std::move(code)}}}}));
}

}  // namespace sallyport::llm
