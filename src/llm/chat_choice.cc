// Texts of one choice of a chat completion that is streamed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/try.h"
#include "llm/chat_adapter.h"

namespace sallyport::llm {

namespace {

constexpr std::array<std::string_view, 9> kDeltaMembers{
    "role",  "content",     "refusal",           "tool_calls", "function_call",
    "audio", "annotations", "reasoning_content", "reasoning"};
// Beside `delta` of a chunk or `message` of a body.
constexpr std::array<std::string_view, 3> kChoiceMembers{"index", "finish_reason", "logprobs"};

std::string text_pointer(std::string_view member) {
  return member == "transcript" ? "/choices/0/delta/audio/transcript"
                                : pointer_to("/choices/0/delta", member);
}

}  // namespace

const std::array<ChatAdapter::TextMember, 5>& ChatAdapter::text_members() {
  static const std::array<TextMember, 5> kMembers{
      {{"reasoning_content", {.kind = ChannelKind::Reasoning}},
       {"reasoning", {.kind = ChannelKind::Reasoning, .part = 1}},
       {"content", {.kind = ChannelKind::Text}},
       {"refusal", {.kind = ChannelKind::Refusal}},
       {"transcript", {.kind = ChannelKind::Whole, .part = 1}}}};
  return kMembers;
}

std::string_view ChatAdapter::text_of(const json::value& message, std::string_view member) {
  if (member != "transcript") return text_in(message, member);
  const json::value* const audio = member_of(message, "audio");
  return audio == nullptr ? std::string_view() : text_in(*audio, "transcript");
}

bool ChatAdapter::is_unknown(std::string_view name, const json::value& value) {
  if (std::ranges::find(kDeltaMembers, name) == kDeltaMembers.end()) return true;
  // Members in a form that the API does not define, such as texts in parts, are unknown members.
  if (value.is_null()) return false;
  if (name == "annotations") return !value.is_array();
  if (name == "audio") return !value.is_object();
  return !value.is_string() && name != "tool_calls" && name != "function_call";
}

// `holder` is the member with the texts: `delta` or `message`.
bool ChatAdapter::is_unknown_of_choice(std::string_view name, std::string_view holder) {
  return name != holder && std::ranges::find(kChoiceMembers, name) == kChoiceMembers.end();
}

Task<void> ChatAdapter::take_choice(Chunk chunk, EventSink& out) {
  SALLYPORT_CO_TRY(Choice* const found, choice_at(chunk.choice));
  Choice& choice = *found;
  if (choice.over) co_return take_late(choice, chunk, out);
  if (const auto hit = unknown_hit(choice, chunk)) {
    end_blocked(choice, *hit, out);
    co_return Result<void>{};
  }
  Splice edits = without_usage(chunk.value);
  hide_logprobs(choice, chunk, edits);
  note_audio(choice, chunk.delta);
  Texts texts = pass_texts(choice, chunk, edits);
  if (!texts.block) pass_annotations(choice, chunk, edits, texts);
  if (texts.block) {
    send_texts(choice, texts, out);
    end_blocked(choice, *texts.block, out);
    co_return Result<void>{};
  }
  const std::string_view reason = text_in(chunk.choice, "finish_reason");
  SALLYPORT_CO_TRY(const bool waits, take_calls(choice, chunk, edits, !texts.left.empty()));
  if (!reason.empty()) {
    co_return co_await finish_choice(choice, chunk, std::move(edits), std::move(texts), out);
  }
  if (waits) co_return Result<void>{};
  const json::value* const usage = member_of(chunk.value, "usage");
  const bool has_more = (!choice.has_role && !text_in(chunk.delta, "role").empty()) ||
                        chunk.delta.get_object().size() > 1 ||
                        chunk.choice.get_object().size() > kChoiceMembers.size() + 1 ||
                        (usage != nullptr && usage->is_object() && !settings_.hides_usage);
  if (!texts.holds || !texts.left.empty() || has_more) send(choice, chunk, edits, out);
  if (!has_more) learn(choice, chunk);
  co_return Result<void>{};
}

// True: the chunk differs from an earlier one only in its text, and was handled like it.
bool ChatAdapter::pass_repeated(std::string_view data, EventSink& out) {
  if (repeated_choice_ == nullptr || repeated_choice_->over || !queue_.empty()) return false;
  const auto delta = repeated_.read(data);
  if (!delta) return false;
  Choice& choice = *repeated_choice_;
  const core::PassedText passed = push(choice, "content", delta->text);
  const std::string leaves = passed.text();
  if (passed.block) {
    if (!leaves.empty()) send_text(choice, "content", leaves, out);
    end_blocked(choice, *passed.block, out);
  } else if (leaves == delta->text) {
    put(data, out, name_);
  } else if (!leaves.empty()) {
    put(with_text(data, *delta, leaves), out, name_);
  }
  return true;
}

void ChatAdapter::learn(Choice& choice, const Chunk& chunk) {
  if (!repeated_.may_learn() || !is_repeatable(chunk)) return;
  const bool padded = !text_in(chunk.value, "obfuscation").empty();
  repeated_.learn(chunk.data,
                  {.text = "/choices/0/delta/content", .padding = padded ? "/obfuscation" : ""});
  repeated_choice_ = &choice;
}

// True if the chunk has nothing but its text that the proxy looks at.
bool ChatAdapter::is_repeatable(const Chunk& chunk) const {
  const json::value* const logprobs = member_of(chunk.choice, "logprobs");
  const json::value* const usage = member_of(chunk.value, "usage");
  return chunk.delta.get_object().size() == 1 && !text_in(chunk.delta, "content").empty() &&
         text_in(chunk.choice, "finish_reason").empty() &&
         (logprobs == nullptr || logprobs->is_null()) &&
         (usage == nullptr || (usage->is_null() && !settings_.hides_usage)) &&
         std::ranges::all_of(chunk.value.get_object(),
                             [](const auto& member) { return is_known_of_answer(member.key()); }) &&
         std::ranges::none_of(chunk.choice.get_object(), [](const auto& member) {
           return is_unknown_of_choice(member.key(), "delta");
         });
}

// After the end of a choice: nothing more if a check ended it, else no new texts or calls.
Result<void> ChatAdapter::take_late(Choice& choice, const Chunk& chunk, EventSink& out) {
  if (choice.blocked) return {};
  for (const TextMember& member : text_members()) {
    if (!text_of(chunk.delta, member.name).empty()) {
      return sallyport::fail(ErrorCode::Corrupt, "a text of the provider follows its choice's end");
    }
  }
  const json::value* const calls = member_of(chunk.delta, "tool_calls");
  const json::value* const old = member_of(chunk.delta, "function_call");
  const bool no_calls =
      calls == nullptr || calls->is_null() || (calls->is_array() && calls->get_array().empty());
  if (!no_calls || (old != nullptr && !old->is_null())) {
    return sallyport::fail(ErrorCode::Corrupt, "a call of the provider follows its choice's end");
  }
  Splice edits = without_usage(chunk.value);
  hide_logprobs(choice, chunk, edits);
  std::optional<core::TextBlock> hit = unknown_hit(choice, chunk);
  if (const json::array* const annotations = array_in(chunk.delta, "annotations");
      annotations != nullptr && !hit) {
    CheckedLeaves fitted = fit_annotations(choice, *annotations, "/choices/0/delta/annotations");
    hit = std::move(fitted.block);
    edits.add(std::move(fitted.edits));
  }
  if (hit) {  // the end of the choice has left
    choice.blocked = true;
    if (!observed_.block) observed_.block = std::move(hit);
    return {};
  }
  put(edits.applied(chunk.data), out, name_);
  return {};
}

// Checks members that the API does not define (MP-44).
std::optional<core::TextBlock> ChatAdapter::unknown_hit(Choice& choice, const Chunk& chunk) {
  const auto look = [&](std::string_view name, const json::value& value) {
    choice.door->note_unknown(std::string(name));
    return check_leaves(*choice.door, {.kind = ChannelKind::Whole}, value, "", Leaves::Unknown)
        .block;
  };
  for (const auto& [name, value] : chunk.choice.get_object()) {
    if (!is_unknown_of_choice(name, "delta")) continue;
    if (std::optional<core::TextBlock> block = look(name, value)) return block;
  }
  for (const auto& [name, value] : chunk.delta.get_object()) {
    if (!is_unknown(name, value)) continue;
    if (std::optional<core::TextBlock> block = look(name, value)) return block;
  }
  for (const auto& [name, value] : unknown_of_calls(chunk.delta)) {
    if (std::optional<core::TextBlock> block = look(name, *value)) return block;
  }
  return std::nullopt;
}

// Members of calls and of audio that the API does not define.
std::vector<std::pair<std::string_view, const json::value*>> ChatAdapter::unknown_of_calls(
    const json::value& message) {
  std::vector<std::pair<std::string_view, const json::value*>> unknown;
  const auto collect = [&](const json::value* object,
                           std::initializer_list<std::string_view> known) {
    if (object == nullptr || !object->is_object()) return;
    for (const auto& [name, value] : object->get_object()) {
      if (std::ranges::find(known, std::string_view(name)) == known.end()) {
        unknown.emplace_back(name, &value);
      }
    }
  };
  if (const json::array* const calls = array_in(message, "tool_calls")) {
    for (const json::value& call : *calls) {
      collect(&call, {"index", "id", "type", "function", "custom"});
      collect(member_of(call, "function"), {"name", "arguments"});
      collect(member_of(call, "custom"), {"name", "input"});
    }
  }
  collect(member_of(message, "function_call"), {"name", "arguments"});
  collect(member_of(message, "audio"), {"id", "data", "transcript", "expires_at"});
  return unknown;
}

// MP-51
void ChatAdapter::hide_logprobs(Choice& choice, const Chunk& chunk, Splice& edits) {
  const json::value* const logprobs = member_of(chunk.choice, "logprobs");
  if (logprobs == nullptr || logprobs->is_null() || !choice.door->enforces_output()) return;
  edits.replace("/choices/0/logprobs", "null");
  if (!choice.lost_logprobs) choice.door->note_degraded("logprobs");
  choice.lost_logprobs = true;
}

// MP-54
void ChatAdapter::note_audio(Choice& choice, const json::value& message) {
  const json::value* const audio = member_of(message, "audio");
  if (choice.has_audio || audio == nullptr || text_in(*audio, "data").empty()) return;
  choice.has_audio = true;
  choice.door->note_unread(fmt::format("/choices/{}/message/audio/data", choice.index), "audio");
}

core::PassedText ChatAdapter::push(Choice& choice, std::string_view member, std::string_view text) {
  auto found = choice.channels.find(member);
  if (found == choice.channels.end()) {
    const auto* const known = std::ranges::find(
        text_members(), member, [](const TextMember& candidate) { return candidate.name; });
    found = choice.channels.emplace(member, known->channel).first;
  }
  core::PassedText passed = choice.door->push(found->second, text);
  if (member == "content") {
    if (choice.strings) {
      choice.strings->feed(text);
      choice.strings->fit(passed);
    }
    choice.offsets.feed(text);
    choice.offsets.take(passed);
  }
  return passed;
}

core::PassedText ChatAdapter::finish(Choice& choice, std::string_view member) {
  const auto found = choice.channels.find(member);
  if (found == choice.channels.end()) return {};
  core::PassedText passed = choice.door->finish(found->second);
  if (member == "content") {
    if (choice.strings) choice.strings->fit(passed);
    choice.offsets.take(passed);
  }
  return passed;
}

ChatAdapter::Texts ChatAdapter::pass_texts(Choice& choice, const Chunk& chunk, Splice& edits) {
  Texts texts;
  for (const TextMember& member : text_members()) {
    const std::string_view text = text_of(chunk.delta, member.name);
    if (text.empty()) continue;
    core::PassedText passed = push(choice, member.name, text);
    std::string leaves = passed.text();
    if (leaves != text) edits.replace(text_pointer(member.name), json_string(leaves));
    texts.holds = texts.holds || leaves.empty();
    if (!leaves.empty()) texts.left.emplace_back(member.name, std::move(leaves));
    texts.block = std::move(passed.block);
    if (texts.block) break;
  }
  return texts;
}

ChatAdapter::Texts ChatAdapter::finish_texts(Choice& choice) {
  Texts texts;
  for (const TextMember& member : text_members()) {
    core::PassedText passed = finish(choice, member.name);
    std::string leaves = passed.text();
    if (!leaves.empty()) texts.left.emplace_back(member.name, std::move(leaves));
    texts.block = std::move(passed.block);
    if (texts.block) break;
  }
  return texts;
}

// Annotations point into the text (MP-47).
bool ChatAdapter::points_behind(const Choice& choice, const json::array& annotations) const {
  return std::ranges::any_of(annotations, [&](const json::value& annotation) {
    const json::value* const cited = member_of(annotation, "url_citation");
    const auto end = cited == nullptr ? std::nullopt : count_in(*cited, "end_index");
    return end && !choice.offsets.is_decided(*end);
  });
}

CheckedLeaves ChatAdapter::fit_annotations(Choice& choice, const json::array& annotations,
                                           const std::string& pointer) {
  CheckedLeaves all;
  for (std::size_t i = 0; i < annotations.size() && !all.block; ++i) {
    const std::string at = pointer_to(pointer, i);
    CheckedLeaves checked =
        check_leaves(*choice.door, {.kind = ChannelKind::Whole}, annotations[i], at, Leaves::Known);
    all.block = std::move(checked.block);
    all.edits.add(std::move(checked.edits));
    const json::value* const cited = member_of(annotations[i], "url_citation");
    const auto start = cited == nullptr ? std::nullopt : count_in(*cited, "start_index");
    const auto end = cited == nullptr ? std::nullopt : count_in(*cited, "end_index");
    if (!start || !end || !choice.offsets.has_changes()) continue;
    const auto mapped = choice.offsets.mapped(*start, *end);
    if (!mapped) {
      all.edits.remove(at);
      continue;
    }
    if (mapped->first != *start) {
      all.edits.replace(at + "/url_citation/start_index", fmt::to_string(mapped->first));
    }
    if (mapped->second != *end) {
      all.edits.replace(at + "/url_citation/end_index", fmt::to_string(mapped->second));
    }
  }
  return all;
}

void ChatAdapter::pass_annotations(Choice& choice, const Chunk& chunk, Splice& edits,
                                   Texts& texts) {
  const json::array* const annotations = array_in(chunk.delta, "annotations");
  if (annotations == nullptr || annotations->empty()) return;
  if (choice.door->enforces_output() && points_behind(choice, *annotations)) {
    choice.annotations.emplace_back(value_at(chunk.data, "/choices/0/delta/annotations"));
    edits.remove("/choices/0/delta/annotations");
    texts.holds = true;
    return;
  }
  CheckedLeaves fitted = fit_annotations(choice, *annotations, "/choices/0/delta/annotations");
  texts.block = std::move(fitted.block);
  edits.add(std::move(fitted.edits));
}

void ChatAdapter::release_annotations(Choice& choice, Texts& texts, EventSink& out) {
  for (const std::string& waiting : choice.annotations) {
    const Result<ParsedJson> parsed = read_wire_json(waiting);
    CheckedLeaves fitted = fit_annotations(choice, parsed->value.get_array(), "");
    texts.block = std::move(fitted.block);
    if (texts.block) break;
    put(chunk_of(choice, fmt::format("{{\"annotations\":{}}}", fitted.edits.applied(waiting))),
        out);
  }
  choice.annotations.clear();
}

void ChatAdapter::send(Choice& choice, const Chunk& chunk, const Splice& edits, EventSink& out) {
  choice.has_role = choice.has_role || !text_in(chunk.delta, "role").empty();
  put(edits.applied(chunk.data), out, name_);
}

void ChatAdapter::send_texts(Choice& choice, const Texts& texts, EventSink& out) {
  for (const auto& [member, text] : texts.left) send_text(choice, member, text, out);
}

// Handles the chunk with `finish_reason`. Waiting chunks leave before it.
Task<void> ChatAdapter::finish_choice(Choice& choice, Chunk chunk, Splice edits, Texts texts,
                                      EventSink& out) {
  const std::string reason(text_in(chunk.choice, "finish_reason"));
  if (choice.index == 0 || observed_.stop_reason.empty()) observed_.stop_reason = reason;
  const bool holds_calls = choice.door->holds_calls() && !choice.calls.empty();
  Texts rest = finish_texts(choice);
  const bool apart = rest.block || !rest.left.empty() || !choice.annotations.empty() ||
                     (holds_calls && !texts.left.empty());
  if (apart) {
    // Texts do not wait for calls, and only the end stays in the last chunk.
    send_texts(choice, texts, out);
    send_texts(choice, rest, out);
    if (!rest.block) release_annotations(choice, rest, out);
    if (rest.block) {
      end_blocked(choice, *rest.block, out);
      co_return Result<void>{};
    }
    for (const TextMember& member : text_members()) {
      if (!text_of(chunk.delta, member.name).empty()) edits.remove(text_pointer(member.name));
    }
  }
  if (!choice.door->holds_calls()) {
    co_await record_calls(choice);
  } else if (!choice.calls.empty()) {
    const std::vector<std::string> notices = co_await decide_calls(choice, reason);
    for (const std::string& notice : notices) send_text(choice, "content", notice, out);
    send_calls(choice, out);
    edits.add(call_edits(choice, chunk.delta));
  }
  const std::string_view sent = sent_reason(choice, reason);
  if (sent != reason) edits.replace("/choices/0/finish_reason", json_string(sent));
  send(choice, chunk, edits, out);
  close(choice, sent);
  co_return Result<void>{};
}

// `[DONE]`: choices without `finish_reason` end here, and their calls are not handed out.
Result<void> ChatAdapter::finish_open(EventSink& out) {
  for (auto& [index, choice] : choices_) {
    if (choice.over || complete_) continue;
    Texts rest = finish_texts(choice);
    send_texts(choice, rest, out);
    if (!rest.block) release_annotations(choice, rest, out);
    if (rest.block) {
      end_blocked(choice, *rest.block, out);
      continue;
    }
    for (const auto& [key, call] : choice.calls) {
      if (!choice.door->holds_calls()) continue;
      send_text(choice, "content",
                choice.door->drop(call.id, call.name, "the provider did not end its arguments"),
                out);
    }
    forget_calls(choice, out);
    close(choice, {});
  }
  if (complete_) return {};
  complete_ = true;
  put_last({}, "[DONE]", out);
  return {};
}

}  // namespace sallyport::llm
