#include "llm/responses_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <utility>

#include "base/try.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

// Members of a response that repeat the request, count or name things. They are not output.
constexpr std::size_t kItemIds = 256;
constexpr std::array<std::string_view, 46> kResponseMembers{"id",
                                                            "object",
                                                            "created_at",
                                                            "completed_at",
                                                            "status",
                                                            "background",
                                                            "incomplete_details",
                                                            "instructions",
                                                            "max_output_tokens",
                                                            "max_tool_calls",
                                                            "model",
                                                            "output",
                                                            "parallel_tool_calls",
                                                            "previous_response_id",
                                                            "prompt",
                                                            "prompt_cache_key",
                                                            "prompt_cache_options",
                                                            "prompt_cache_retention",
                                                            "reasoning",
                                                            "safety_identifier",
                                                            "service_tier",
                                                            "store",
                                                            "temperature",
                                                            "text",
                                                            "tool_choice",
                                                            "tools",
                                                            "top_logprobs",
                                                            "top_p",
                                                            "truncation",
                                                            "usage",
                                                            "user",
                                                            "metadata",
                                                            "conversation",
                                                            "moderation",
                                                            "billing",
                                                            "frequency_penalty",
                                                            "presence_penalty",
                                                            "first_id",
                                                            "last_id",
                                                            "has_more",
                                                            "deleted",
                                                            "input_tokens",
                                                            "context_management",
                                                            "stream_options",
                                                            "include",
                                                            "created_by"};

// Events about the progress of provider tools, and media.
constexpr std::array<std::string_view, 9> kStatusEvents{"response.web_search_call.",
                                                        "response.file_search_call.",
                                                        "response.mcp_call.",
                                                        "response.code_interpreter_call.",
                                                        "response.mcp_list_tools.",
                                                        "response.image_generation_call.",
                                                        "response.tool_search_call.",
                                                        "response.audio.",
                                                        "response.shell_call_in_progress"};

Usage usage_of(const json::value& usage) {
  Usage read{.input_tokens = count_in(usage, "input_tokens"),
             .output_tokens = count_in(usage, "output_tokens"),
             .total_tokens = count_in(usage, "total_tokens")};
  if (const json::value* const details = member_of(usage, "input_tokens_details")) {
    read.cache_read_input_tokens = count_in(*details, "cached_tokens");
    read.cache_creation_input_tokens = count_in(*details, "cache_write_tokens");
  }
  if (const json::value* const details = member_of(usage, "output_tokens_details")) {
    read.reasoning_tokens = count_in(*details, "reasoning_tokens");
  }
  return read;
}

}  // namespace

std::unique_ptr<AnswerAdapter> responses_adapter(MessageDoors& doors, AnswerSettings settings) {
  return std::make_unique<ResponsesAdapter>(doors, settings);
}

ResponsesAdapter::ResponsesAdapter(MessageDoors& doors, AnswerSettings settings)
    : door_(doors.open(0)),
      settings_(settings),
      texts_(*door_, settings.json_format),
      renumbers_(!loose()) {}

bool ResponsesAdapter::is_final(std::string_view type) {
  return type == "response.completed" || type == "response.incomplete" ||
         type == "response.failed" || type == "response.cancelled" || type == "error";
}

Result<ResponsesAdapter::Incoming> ResponsesAdapter::read(const net::SseEvent& event) const {
  if (event.too_long) {
    return sallyport::fail(ErrorCode::Exhausted, "an event of the provider is over 16 MiB");
  }
  SALLYPORT_TRY(ParsedJson parsed, read_wire_json(event.data));
  Incoming in{.name = event.name, .data = event.data, .value = std::move(parsed.value)};
  in.type = text_in(in.value, "type");
  if (in.type.empty()) in.type = event.name;
  if (!in.value.is_object() || in.type.empty()) {
    return sallyport::fail(ErrorCode::Corrupt, "an event of the provider has no `type`");
  }
  in.index = count_in(in.value, "output_index");
  for (const std::string_view name :
       {"output_index", "content_index", "summary_index", "command_index"}) {
    // Numbers of parts keep room for each other (`kSummaryPart`).
    if (count_in(in.value, name).value_or(0) >= kSummaryPart) {
      return sallyport::fail(ErrorCode::Corrupt,
                             fmt::format("`{}` of an event is too large", name));
    }
  }
  const bool of_item = in.type.starts_with("response.output_item.") || is_call_event(in.type) ||
                       TextRule::of(in.type) != nullptr;
  if (of_item && !in.index && !loose()) {
    return sallyport::fail(ErrorCode::Corrupt, "an event of the provider has no `output_index`");
  }
  return in;
}

class ResponsesAdapter::Resumed final : public EventSink {
 public:
  Resumed(EventSink& out, std::uint64_t after) : out_(out), after_(after) {}

  void event(std::string_view name, std::string_view data) override {
    const std::string_view number = value_at(data, "/sequence_number");
    std::uint64_t own = 0;
    std::from_chars(number.data(), number.data() + number.size(), own);
    if (number.empty() || own > after_) out_.event(name, data);
  }
  void last(std::string_view name, std::string_view data) override { out_.last(name, data); }

 private:
  EventSink& out_;
  std::uint64_t after_;
};

Task<void> ResponsesAdapter::on_event(const net::SseEvent& event, EventSink& out) {
  if (!settings_.starting_after) co_return co_await on_own_event(event, out);
  Resumed rest(out, *settings_.starting_after);
  co_return co_await on_own_event(event, rest);
}

Task<void> ResponsesAdapter::on_own_event(const net::SseEvent& event, EventSink& out) {
  if (complete_) co_return Result<void>{};
  if (event.data == "[DONE]") {
    out.event(event.name, event.data);
    co_return Result<void>{};
  }
  if (const auto repeated = on_repeated(event, out)) co_return *repeated;
  auto in = read(event);
  if (!in) {
    if (in.error().code != ErrorCode::Exhausted) in.error().code = ErrorCode::Corrupt;
    co_return std::unexpected(std::move(in).error());
  }
  SALLYPORT_CO_CHECK_OK(co_await take(std::move(*in), out));
  co_return co_await drain(out);
}

Task<void> ResponsesAdapter::on_end(EventSink&) {
  if (complete_) co_return Result<void>{};
  co_return sallyport::fail(ErrorCode::Corrupt,
                            "the provider's stream ended in the middle of a response");
}

// While a call is held, events of later items wait, and those of earlier items pass.
Task<void> ResponsesAdapter::take(Incoming in, EventSink& out) {
  if (held_ && in.index && *in.index >= held_->index) {
    const bool held = *in.index == held_->index;
    const bool done = held && in.type == "response.output_item.done";
    SALLYPORT_CO_CHECK_OK(wait(std::move(in), held));
    if (done) co_return co_await settle(out);
    co_return Result<void>{};
  }
  while (held_ && is_final(in.type)) {
    cut_held(out);
    SALLYPORT_CO_CHECK_OK(co_await drain(out));
  }
  co_return co_await handle(std::move(in), out);
}

// Items that waited leave in the order of their indices.
Task<void> ResponsesAdapter::drain(EventSink& out) {
  while (!queue_.empty() && !complete_) {
    const auto first = queue_.begin();
    if (held_ && first->first > held_->index) break;
    Incoming in = std::move(first->second.front());
    first->second.pop_front();
    if (first->second.empty()) queue_.erase(first);
    waiting_ -= in.data.size();
    SALLYPORT_CO_CHECK_OK(co_await take(std::move(in), out));
  }
  co_return Result<void>{};
}

Task<void> ResponsesAdapter::handle(Incoming in, EventSink& out) {
  const auto item = in.index ? items_.find(*in.index) : items_.end();
  if (item != items_.end() && item->second.call && item->second.closed) {
    withheld();  // its call was decided, and nothing of it may follow
    co_return Result<void>{};
  }
  if (begins_call(in)) {
    const bool done = in.type == "response.output_item.done";
    held_ = Held{.index = *in.index};
    SALLYPORT_CO_CHECK_OK(wait(std::move(in), true));
    if (done) co_return co_await settle(out);
    co_return Result<void>{};
  }
  if (object_in(in.value, "response") != nullptr) {
    co_return co_await on_response(std::move(in), out);
  }
  if (in.type == "response.output_item.done") co_return co_await on_done(std::move(in), out);
  if (in.type == "response.output_item.added") co_return on_added(in, out);
  if (in.type == "error") co_return on_error(in, out);
  if (const TextRule* const rule = TextRule::of(in.type)) {
    const bool done = in.type.ends_with(".done");
    co_return done ? on_text_done(in, *rule, out) : on_delta(in, *rule, out);
  }
  if (in.type == "response.content_part.added" ||
      in.type == "response.reasoning_summary_part.added") {
    co_return on_part(in, false, out);
  }
  if (in.type == "response.content_part.done" ||
      in.type == "response.reasoning_summary_part.done") {
    co_return on_part(in, true, out);
  }
  if (in.type == "response.output_text.annotation.added") {
    co_return on_annotation(std::move(in), out);
  }
  if (in.type.starts_with("response.shell_call_output_content.")) {
    co_return on_shell_output(in, out);
  }
  if (in.type.starts_with("response.audio.transcript.")) co_return on_transcript(in, out);
  co_return on_other(in, out);
}

// A status, or an event that this adapter does not know (MP-44).
Result<void> ResponsesAdapter::on_other(const Incoming& in, EventSink& out) {
  const bool known = in.type == "keepalive" || is_call_event(in.type) ||
                     in.type.starts_with("response.shell_call_command.") ||
                     std::ranges::any_of(kStatusEvents, [&](std::string_view prefix) {
                       return in.type.starts_with(prefix);
                     });
  if (!known) {
    door_->note_unknown(in.type);
    ItemTexts texts;
    add_unknown_texts(texts, in.value, "", kNoItem);
    Splice none;
    SALLYPORT_TRY(const MaybeBlocked blocked, check_texts(texts, 0, "", none));
    if (blocked) return end_blocked(out, *blocked);
  } else {
    SALLYPORT_TRY(const MaybeBlocked blocked, check_extras(in));
    if (blocked) return end_blocked(out, *blocked);
  }
  send(out, in);
  return {};
}

Result<void> ResponsesAdapter::on_error(const Incoming& in, EventSink& out) {
  SALLYPORT_TRY(const MaybeBlocked extra, check_extras(in));
  if (extra) return end_blocked(out, *extra);
  Splice edits;
  const json::value* const inner = member_of(in.value, "error");
  SALLYPORT_TRY(const TextStep step,
                texts_.repeat({kNoItem, "/error"}, {.kind = ChannelKind::Whole},
                              text_in(inner ? *inner : in.value, "message"), {.loose = loose()}));
  if (step.block) return end_blocked(out, {.block = *step.block});
  if (step.changed) edits.replace(inner ? "/error/message" : "/message", json_string(step.text));
  observed_.stop_reason = observed_.sent_stop_reason = "error";
  observed_.failed = true;
  drop_undecided();
  complete_ = true;
  send(out, in, std::move(edits), true);
  return {};
}

Task<void> ResponsesAdapter::on_response(Incoming in, EventSink& out) {
  const json::value& response = in.value.at("response");
  SALLYPORT_CO_CHECK_OK(check_output(response));
  const bool final = is_final(in.type);
  observe(response);
  if (final) {
    SALLYPORT_CO_CHECK_OK(close_texts(std::nullopt, out));
    if (complete_) co_return Result<void>{};
  }
  Splice edits;
  SALLYPORT_CO_TRY(MaybeBlocked blocked, check_extras(in));
  if (!blocked) {
    SALLYPORT_CO_TRY(blocked, check_response(response, "/response", edits));
  }
  if (!blocked && array_in(response, "output") != nullptr) {
    const auto raws = elements_of(value_at(in.data, "/response/output"));
    std::vector<std::string> items;
    SALLYPORT_CO_TRY(blocked, co_await list_out(*array_in(response, "output"), raws, true, items));
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i] != raws[i]) edits.replace(pointer_to("/response/output", i), items[i]);
    }
  }
  if (complete_) co_return Result<void>{};  // the answer failed meanwhile
  if (blocked) {
    blocked->item.reset();  // what it stands in did not leave
    co_return end_blocked(out, *blocked);
  }
  const std::string data = numbered(in, std::move(edits));
  if (!final) {
    begun_ = data;
    out.event(in.name, data);
    co_return Result<void>{};
  }
  observed_.stop_reason = observed_.sent_stop_reason = stop_reason(response);
  complete_ = true;
  out.last(in.name, data);
  co_return Result<void>{};
}

std::string ResponsesAdapter::stop_reason(const json::value& response) {
  const json::value* const details = member_of(response, "incomplete_details");
  const std::string_view reason = details ? text_in(*details, "reason") : std::string_view();
  return std::string(reason.empty() ? text_in(response, "status") : reason);
}

void ResponsesAdapter::observe(const json::value& response) {
  if (const std::string_view id = text_in(response, "id"); !id.empty()) observed_.response_id = id;
  if (const std::string_view model = text_in(response, "model"); !model.empty()) {
    observed_.model = model;
  }
  const json::value* const store = member_of(response, "store");
  if (store != nullptr && store->is_bool()) observed_.stored = store->get_bool();
  if (object_in(response, "usage") != nullptr) {
    observed_.usage = usage_of(*member_of(response, "usage"));
  }
  const json::array* const items = array_in(response, "output");
  observed_.item_ids.clear();
  observed_.file_ids.clear();
  observed_.container_ids.clear();
  if (items != nullptr) {
    collect_ids(*member_of(response, "output"), "file_id", observed_.file_ids);
    collect_ids(*member_of(response, "output"), "container_id", observed_.container_ids);
  }
  for (std::size_t i = 0; items != nullptr && i < std::min(items->size(), kItemIds); ++i) {
    if (const std::string_view id = text_in((*items)[i], "id"); !id.empty()) {
      observed_.item_ids.emplace_back(id);
    }
  }
}

// The items of an answer are a list. What stands there otherwise, no check could read.
Result<void> ResponsesAdapter::check_output(const json::value& response) {
  const json::value* const output = member_of(response, "output");
  if (output == nullptr || output->is_null() || output->is_array()) return {};
  return sallyport::fail(ErrorCode::Corrupt, "the output of the provider's response is not a list");
}

bool ResponsesAdapter::is_known_of_response(std::string_view name) {
  return std::ranges::find(kResponseMembers, name) != kResponseMembers.end();
}

// Checks members of the response that are neither known nor output.
Result<ResponsesAdapter::MaybeBlocked> ResponsesAdapter::check_response(const json::value& response,
                                                                        const std::string& pointer,
                                                                        Splice& edits) {
  ItemTexts texts;
  for (const auto& [name, value] : response.get_object()) {
    if (is_known_of_response(name)) continue;
    // The items of a list are checked one by one.
    if (name == "data" && value.is_array() && array_in(response, "output") == nullptr) continue;
    const std::size_t before = texts.texts.size();
    add_unknown_texts(texts, value, pointer_to("", name), kNoItem);
    if (name != "error") continue;
    for (std::size_t i = before; i < texts.texts.size(); ++i) texts.texts[i].fixed = false;
  }
  return check_texts(texts, 0, pointer, edits);
}

std::string ResponsesAdapter::numbered(const Incoming& in, Splice edits) {
  latest_ = next_;
  if (const auto number = count_in(in.value, "sequence_number")) {
    const std::uint64_t own = next_number(*number);
    if (*number != own) edits.replace("/sequence_number", fmt::to_string(own));
  }
  return edits.applied(in.data);
}

std::uint64_t ResponsesAdapter::next_number(std::uint64_t of_provider) {
  if (!renumbers_) next_ = of_provider;
  latest_ = next_;
  return next_++;
}

void ResponsesAdapter::send(EventSink& out, const Incoming& in, Splice edits, bool last) {
  const std::string data = numbered(in, std::move(edits));
  if (last) {
    out.last(in.name, data);
  } else {
    out.event(in.name, data);
  }
}

void ResponsesAdapter::make(EventSink& out, std::string_view type, std::string_view members,
                            bool last) {
  renumbers_ = true;
  latest_ = next_;
  const std::string data =
      fmt::format(R"({{"type":{},"sequence_number":{},{}}})", json_string(type), next_++, members);
  if (last) {
    out.last(type, data);
  } else {
    out.event(type, data);
  }
}

void ResponsesAdapter::keep_alive(EventSink& out) {
  if (complete_ || begun_.empty()) return;  // where the answer has not begun, a comment does it
  if (settings_.starting_after && next_ <= *settings_.starting_after) return;
  Splice edits;
  edits.replace("/response/status", "\"in_progress\"");
  const std::string begun = edits.applied(begun_);
  // It repeats the number of the previous event, so a client that resumes after it misses nothing.
  out.event("response.in_progress",
            fmt::format(R"({{"type":"response.in_progress","sequence_number":{},"response":{}}})",
                        latest_, value_at(begun, "/response")));
}

void ResponsesAdapter::fail(EventSink& out, const ApiError& error) {
  if (std::exchange(failed_, true)) return;
  if (std::exchange(complete_, true)) {
    next_ = latest_;  // in place of the last frame, with its number
  } else {
    drop_undecided();
  }
  observed_.sent_stop_reason = "error";
  make(out, "error",
       fmt::format(R"("code":{},"message":{},"param":null)",
                   error.code.empty() ? "null" : json_string(error.code),
                   json_string(error.message)),
       true);
}

}  // namespace sallyport::llm
