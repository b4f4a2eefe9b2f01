// Chat completions that are not streamed. The parts of a choice are checked in the order of a
// stream, so that both forms have the same result (MP-38).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "llm/chat_adapter.h"

namespace sallyport::llm {

namespace {

constexpr std::size_t kChatBody = std::size_t{64} * 1024 * 1024;  // MP-78

}  // namespace

Task<std::string> ChatAdapter::on_body(std::string body) {
  const Result<ParsedJson> parsed = read_wire_json(body, {.bytes = kChatBody});
  const json::array* const choices = parsed ? array_in(parsed->value, "choices") : nullptr;
  if (choices == nullptr) {
    co_return sallyport::fail(ErrorCode::Corrupt, "the provider's answer is not a chat completion");
  }
  take_head(body, parsed->value);
  take_usage(parsed->value);
  Splice edits;
  std::optional<core::TextBlock> block = pass_body_members(parsed->value, edits);
  for (std::size_t i = 0; i < choices->size(); ++i) {
    const json::value& value = (*choices)[i];
    const json::value* const message = member_of(value, "message");
    if (message == nullptr || !message->is_object()) {
      co_return sallyport::fail(ErrorCode::Corrupt, "a choice of the provider has no message");
    }
    SALLYPORT_CO_TRY(Choice* const choice, choice_at(value));
    if (choice->over) {
      co_return sallyport::fail(ErrorCode::Corrupt, "two choices of the provider have one index");
    }
    BodyChoice body_choice{*choice, pointer_to("/choices", i), value, *message};
    SALLYPORT_CO_CHECK_OK(add_calls(*choice, *message, true));
    co_await pass_body_choice(body_choice, block, edits);
  }
  complete_ = true;
  co_return edits.applied(body);
}

// Checks members of the completion that the API does not define. A block ends every choice.
std::optional<core::TextBlock> ChatAdapter::pass_body_members(const json::value& value,
                                                              Splice& edits) {
  for (const auto& [name, member] : value.get_object()) {
    if (is_known_of_answer(name)) continue;
    MessageDoor& door = any_door();
    door.note_unknown(std::string(name));
    CheckedLeaves checked =
        check_leaves(door, {.kind = ChannelKind::Whole}, member, "", Leaves::Unknown);
    if (!checked.block) continue;
    edits.remove(pointer_to("", std::string_view(name)));
    return std::move(checked.block);
  }
  return std::nullopt;
}

Async<void> ChatAdapter::pass_body_choice(BodyChoice& body, std::optional<core::TextBlock> block,
                                          Splice& edits) {
  const std::string reason(text_in(body.value, "finish_reason"));
  Choice& choice = body.choice;
  if (choice.index == 0 || observed_.stop_reason.empty()) observed_.stop_reason = reason;
  const json::value* const logprobs = member_of(body.value, "logprobs");
  if (logprobs != nullptr && !logprobs->is_null() && choice.door->enforces_output()) {
    edits.replace(body.path + "/logprobs", "null");
    choice.door->note_degraded("logprobs");
  }
  note_audio(choice, body.message);
  Splice others;
  if (!block) block = pass_body_texts(body);
  if (!block) block = pass_body_others(body, others);
  if (block) {
    end_blocked_body(body, *block, edits);
    write_texts(body, edits);
    co_return;
  }
  edits.add(std::move(others));
  co_await pass_body_calls(body, edits);
  write_texts(body, edits);
  const std::string_view sent = sent_reason(choice, reason);
  if (sent != reason) edits.replace(body.path + "/finish_reason", json_string(sent));
  close(choice, sent);
}

std::optional<core::TextBlock> ChatAdapter::pass_body_texts(BodyChoice& body) {
  for (const TextMember& member : text_members()) {
    const std::string_view text = text_of(body.message, member.name);
    if (text.empty()) continue;
    core::PassedText passed = push(body.choice, member.name, text);
    std::string& left = body.texts[std::string(member.name)];
    left = passed.text();
    if (passed.block) return std::move(passed.block);
    core::PassedText rest = finish(body.choice, member.name);
    left += rest.text();
    if (rest.block) return std::move(rest.block);
  }
  return std::nullopt;
}

// Annotations, and members that the API does not define.
std::optional<core::TextBlock> ChatAdapter::pass_body_others(BodyChoice& body, Splice& edits) {
  if (const json::array* const annotations = array_in(body.message, "annotations")) {
    CheckedLeaves fitted =
        fit_annotations(body.choice, *annotations, body.path + "/message/annotations");
    if (fitted.block) return std::move(fitted.block);
    edits.add(std::move(fitted.edits));
  }
  const auto look = [&](std::string_view name, const json::value& value) {
    body.choice.door->note_unknown(std::string(name));
    return check_leaves(*body.choice.door, {.kind = ChannelKind::Whole}, value, "", Leaves::Unknown)
        .block;
  };
  for (const auto& [name, value] : body.value.get_object()) {
    if (!is_unknown_of_choice(name, "message")) continue;
    if (std::optional<core::TextBlock> block = look(name, value)) return block;
  }
  for (const auto& [name, value] : body.message.get_object()) {
    if (!is_unknown(name, value)) continue;
    if (std::optional<core::TextBlock> block = look(name, value)) return block;
  }
  for (const auto& [name, value] : unknown_of_calls(body.message)) {
    if (std::optional<core::TextBlock> block = look(name, *value)) return block;
  }
  return std::nullopt;
}

Async<void> ChatAdapter::pass_body_calls(BodyChoice& body, Splice& edits) {
  Choice& choice = body.choice;
  if (choice.calls.empty()) co_return;
  if (!choice.door->holds_calls()) {
    co_await record_calls(choice);
    co_return;
  }
  const std::vector<std::string> notices =
      co_await decide_calls(choice, text_in(body.value, "finish_reason"));
  for (const std::string& notice : notices) body.texts["content"] += notice;
  const std::string message = body.path + "/message";
  for (const auto& [key, call] : choice.calls) {
    const bool old = key == kOldCall;
    const std::string at = old ? message + "/function_call"
                               : pointer_to(message + "/tool_calls", static_cast<std::size_t>(key));
    if (call.fate == Call::Fate::Absent && (old || has_call_left(choice))) edits.remove(at);
    if (call.fate == Call::Fate::Rewrite) {
      const bool custom = call.type == "custom";
      edits.replace(
          old ? at + "/arguments" : at + (custom ? "/custom/input" : "/function/arguments"),
          json_string(call.rewritten));
    }
  }
  if (!has_call_left(choice) && array_in(body.message, "tool_calls") != nullptr) {
    edits.remove(message + "/tool_calls");
  }
}

// Of this choice, only the texts before the hit and the notice leave.
void ChatAdapter::end_blocked_body(BodyChoice& body, const core::TextBlock& block, Splice& edits) {
  Choice& choice = body.choice;
  if (!observed_.block) observed_.block = block;
  for (const auto& [key, call] : choice.calls) {
    if (choice.door->holds_calls()) choice.door->drop(call.id, call.name, "its message was ended");
  }
  for (const auto& [name, value] : body.message.get_object()) {
    const bool stays = name == "role" || name == "content" || name == "refusal" ||
                       name == "reasoning_content" || name == "reasoning";
    const bool odd = is_unknown(name, value);
    const bool has_transcript = name == "audio" && body.texts.contains("transcript");
    if (!has_transcript && (!stays || odd)) {
      edits.remove(pointer_to(body.path + "/message", std::string_view(name)));
    }
  }
  for (const auto& [name, value] : unknown_of_calls(body.message)) {
    edits.remove(pointer_to(body.path + "/message/audio", name));  // calls have gone
  }
  for (const auto& [name, value] : body.value.get_object()) {
    if (is_unknown_of_choice(name, "message")) {
      edits.remove(pointer_to(body.path, std::string_view(name)));
    }
  }
  // Texts after the hit become empty.
  for (const TextMember& member : text_members()) {
    if (!text_of(body.message, member.name).empty()) body.texts[std::string(member.name)];
  }
  body.texts[settings_.json_format ? "refusal" : "content"] += block.notice;
  const std::string_view reason = settings_.block_as_answer ? "stop" : "content_filter";
  edits.replace(body.path + "/finish_reason", json_string(reason));
  choice.blocked = true;
  close(choice, reason);
}

void ChatAdapter::write_texts(const BodyChoice& body, Splice& edits) {
  const std::string message = body.path + "/message";
  for (const auto& [member, text] : body.texts) {
    if (text == text_of(body.message, member)) continue;
    const std::string json = text.empty() ? "null" : json_string(text);
    if (member == "transcript") {
      edits.replace(message + "/audio/transcript", json_string(text));
    } else if (const json::value* const there = member_of(body.message, member);
               there != nullptr && !is_unknown(member, *there)) {
      edits.replace(pointer_to(message, member), json);
    } else if (!text.empty()) {
      edits.append(message, fmt::format("\"{}\":{}", member, json));
    }
  }
}

}  // namespace sallyport::llm
