// Tool calls of one choice of a chat completion.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "llm/chat_adapter.h"

namespace sallyport::llm {

namespace {

constexpr std::size_t kChatArguments = std::size_t{16} * 1024 * 1024;  // MP-78
constexpr std::size_t kChatCalls = 1024;                               // MP-78
// Chunks cost more than their arguments. Over this size, held arguments are joined.
constexpr std::size_t kChatHeldApart = std::size_t{1024} * 1024;
constexpr std::size_t kChatHeld = std::size_t{32} * 1024 * 1024;

// The member with name and arguments, and below it the member with the arguments.
std::string_view body_member(std::string_view type) {
  return type == "custom" ? "custom" : "function";
}

std::string_view argument_member(std::string_view type) {
  return type == "custom" ? "input" : "arguments";
}

}  // namespace

// Takes a word of a call. A held call keeps its first one: a client that reads another one would
// execute another call than the decided one (MP-56).
Result<void> ChatAdapter::take_word(const Choice& choice, std::string& word,
                                    std::string_view came) {
  if (came.empty()) return {};
  if (!word.empty() && word != came && choice.door->holds_calls()) {
    return sallyport::fail(ErrorCode::Corrupt,
                           "the provider changed the id, name or type of a call");
  }
  word = came;
  return {};
}

// Takes id and type of a part. Returns its body; null: it has none.
Result<const json::value*> ChatAdapter::body_of(const Choice& choice, Call& call,
                                                const json::value& part) {
  const auto given = [&](std::string_view name) {
    const json::value* const member = member_of(part, name);
    return member != nullptr && !member->is_null();
  };
  const std::string_view stated = text_in(part, "type");
  const bool custom = given("custom") || stated == "custom";
  const bool function = given("function") || stated == "function";
  if (!part.is_object() || (custom && function)) {
    return sallyport::fail(ErrorCode::Corrupt, "a call of the provider has no clear type");
  }
  if (call.type.empty() || custom || function) {
    SALLYPORT_CHECK_OK(take_word(choice, call.type, custom ? "custom" : "function"));
  }
  SALLYPORT_CHECK_OK(take_word(choice, call.id, text_in(part, "id")));
  const std::string_view member = body_member(call.type);
  return given(member) ? member_of(part, member) : nullptr;
}

Result<void> ChatAdapter::add_call(Choice& choice, CallKey key, const json::value& part) {
  Call& call = choice.calls[key];
  ++choice.call_parts;
  if (choice.calls.size() > kChatCalls) {
    return sallyport::fail(ErrorCode::Exhausted, "a message has too many calls");
  }
  const json::value* body = &part;
  if (key == kOldCall) {
    call.type = "function_call";
  } else {
    SALLYPORT_TRY(body, body_of(choice, call, part));
  }
  if (body == nullptr) return {};
  SALLYPORT_CHECK_OK(take_word(choice, call.name, text_in(*body, "name")));
  const json::value* const carried = member_of(*body, argument_member(call.type));
  if (!body->is_object() || (carried != nullptr && !carried->is_null() && !carried->is_string())) {
    return sallyport::fail(ErrorCode::Corrupt, "the arguments of a call are not a text");
  }
  const std::string_view piece = text_in(*body, argument_member(call.type));
  call.arguments += piece;
  choice.argument_bytes += piece.size();
  if (choice.argument_bytes > kChatArguments) {
    return sallyport::fail(ErrorCode::Exhausted, "the arguments of a message are over the limit");
  }
  return {};
}

// Adds the calls of a delta, or of a whole message, in which calls have no index but their place.
Result<void> ChatAdapter::add_calls(Choice& choice, const json::value& message, bool whole) {
  const json::value* const calls = member_of(message, "tool_calls");
  const json::value* const old = member_of(message, "function_call");
  if ((calls != nullptr && !calls->is_null() && !calls->is_array()) ||
      (old != nullptr && !old->is_null() && !old->is_object())) {
    return sallyport::fail(ErrorCode::Corrupt, "the calls of a message have a wrong type");
  }
  if (calls != nullptr && calls->is_array()) {
    std::size_t place = 0;
    for (const json::value& part : calls->get_array()) {
      const json::value* const stated = member_of(part, "index");
      const auto index = count_in(part, "index");
      if (!whole && stated != nullptr && !stated->is_null() && !index) {
        return sallyport::fail(ErrorCode::Corrupt, "the index of a call is not a number");
      }
      SALLYPORT_CHECK_OK(add_call(choice, whole ? place : index.value_or(place), part));
      const Call& call = choice.calls.at(whole ? place : index.value_or(place));
      if (whole && call.name.empty() && choice.door->holds_calls()) {
        return sallyport::fail(ErrorCode::Corrupt, "a call of the provider has no name");
      }
      ++place;
    }
  }
  if (old != nullptr && old->is_object()) return add_call(choice, kOldCall, *old);
  return {};
}

Result<bool> ChatAdapter::take_calls(Choice& choice, const Chunk& chunk, Splice& edits,
                                     bool has_text) {
  const std::size_t before = choice.call_parts;
  SALLYPORT_CHECK_OK(add_calls(choice, chunk.delta, false));
  if (choice.call_parts == before) return false;
  // The last chunk is held elsewhere.
  if (!choice.door->holds_calls() || !text_in(chunk.choice, "finish_reason").empty()) return false;
  if (!has_text) {
    SALLYPORT_CHECK_OK(hold(choice, edits.applied(chunk.data), chunk));
    return true;
  }
  Splice calls_only;
  for (const auto& [name, value] : chunk.delta.get_object()) {
    const bool call = name == "tool_calls" || name == "function_call";
    (call ? edits : calls_only).remove(pointer_to("/choices/0/delta", std::string_view(name)));
  }
  Chunk part = chunk;
  SALLYPORT_CHECK_OK(hold(choice, calls_only.applied(chunk.data), part));
  return false;
}

Result<void> ChatAdapter::hold(Choice& choice, std::string data, const Chunk& chunk) {
  const json::array* const calls = array_in(chunk.delta, "tool_calls");
  const bool plain = chunk.delta.get_object().size() == 1 && calls != nullptr &&
                     calls->size() == 1 && (*calls)[0].is_object() &&
                     (*calls)[0].get_object().size() == 2;
  const CallKey key = plain ? count_in((*calls)[0], "index").value_or(0) : kOldCall;
  if (plain && choice.held_bytes > kChatHeldApart && choice.held.back().call == key) {
    const Call& call = choice.calls.at(key);
    const json::value* const body = member_of((*calls)[0], body_member(call.type));
    if (body != nullptr && body->is_object() && body->get_object().size() == 1) {
      choice.held.back().more += text_in(*body, argument_member(call.type));
      return {};
    }
  }
  choice.held_bytes += data.size();
  if (choice.held_bytes > kChatHeld) {
    return sallyport::fail(ErrorCode::Exhausted, "held calls are over their limit");
  }
  choice.held.push_back({.data = std::move(data), .call = key, .name = name_});
  if (!choice.door->enforces_output()) {
    queue_.push_back({.choice = choice.index, .held = choice.held.size() - 1});
  }
  return {};
}

Result<ProposedCall> ChatAdapter::proposed(const Call& call) {
  ProposedCall made{.type = call.type, .id = call.id, .name = call.name};
  if (call.type == "custom") {
    made.input = json::object{{"input", call.arguments}};
    return made;
  }
  if (call.arguments.empty()) {
    made.input = json::object();
    return made;
  }
  SALLYPORT_TRY(ParsedJson parsed, read_wire_json(call.arguments));
  if (!parsed.value.is_object()) {
    return sallyport::fail(ErrorCode::InvalidInput, "the arguments of a call are not an object");
  }
  made.input = std::move(parsed.value);
  if (!parsed.exact) made.raw_input = call.arguments;
  return made;
}

// Decides the calls in order. Returns the notices for calls that are left out (MP-57, MP-59).
Async<std::vector<std::string>> ChatAdapter::decide_calls(Choice& choice,
                                                          std::string_view finish_reason) {
  std::vector<std::string> notices;
  const bool limited = finish_reason == "length" || finish_reason == "content_filter";
  for (auto& [key, call] : choice.calls) {
    const bool last = key == choice.calls.rbegin()->first;
    const bool cut = limited && last;
    Result<ProposedCall> made = proposed(call);
    if (!made || cut) {
      call.fate = Call::Fate::Absent;
      notices.push_back(choice.door->drop(
          call.id, call.name,
          cut ? "an output limit cut its arguments" : "its arguments are not a JSON object"));
      continue;
    }
    CallRuling ruling = co_await choice.door->decide(std::move(*made));
    if (ruling.kind == CallRuling::Kind::Refuse) {
      call.fate = Call::Fate::Absent;
      choice.refused = true;
      notices.push_back(std::move(ruling.notice));
    } else if (ruling.kind == CallRuling::Kind::Rewrite) {
      call.fate = Call::Fate::Rewrite;
      const json::value* const text = member_of(ruling.input, "input");
      call.rewritten = call.type == "custom" && text != nullptr && text->is_string()
                           ? std::string(text->get_string())
                           : canonical_json(ruling.input);
    }
  }
  co_return notices;
}

// Mode `observe`: the calls have left unchanged and are only recorded.
Async<void> ChatAdapter::record_calls(Choice& choice) {
  for (auto& [key, call] : choice.calls) {
    Result<ProposedCall> made = proposed(call);
    if (!made) {
      made = ProposedCall{.type = call.type, .id = call.id, .name = call.name};
      made->input = call.arguments;
    }
    (void)co_await choice.door->decide(std::move(*made));
  }
}

bool ChatAdapter::has_call_left(const Choice& choice) {
  return std::ranges::any_of(
      choice.calls, [](const auto& entry) { return entry.second.fate != Call::Fate::Absent; });
}

std::string_view ChatAdapter::sent_reason(const Choice& choice, std::string_view reason) {
  const bool calls = reason == "tool_calls" || reason == "function_call";
  return calls && choice.refused && !has_call_left(choice) ? "stop" : reason;
}

// Edits the parts of calls in a chunk: absent calls are removed, later ones get a lower index, and
// a rewritten call replaces its first part completely.
Splice ChatAdapter::call_edits(Choice& choice, const json::value& delta) {
  Splice edits;
  const json::array* const parts = array_in(delta, "tool_calls");
  std::size_t left = 0;
  for (std::size_t i = 0; parts != nullptr && i < parts->size(); ++i) {
    const std::string at = pointer_to("/choices/0/delta/tool_calls", i);
    const CallKey key = count_in((*parts)[i], "index").value_or(i);
    Call& call = choice.calls.at(key);
    const auto lower =
        std::count_if(choice.calls.begin(), choice.calls.find(key),
                      [](const auto& entry) { return entry.second.fate != Call::Fate::Absent; });
    const bool whole = call.fate == Call::Fate::Rewrite && !call.rewritten_sent;
    if (call.fate == Call::Fate::Absent || (call.fate == Call::Fate::Rewrite && !whole)) {
      edits.remove(at);
      continue;
    }
    ++left;
    if (whole) {
      call.rewritten_sent = true;
      edits.replace(
          at, fmt::format(R"({{"index":{},"id":{},"type":"{}","{}":{{"name":{},"{}":{}}}}})", lower,
                          json_string(call.id), call.type, body_member(call.type),
                          json_string(call.name), argument_member(call.type),
                          json_string(call.rewritten)));
    } else if (static_cast<CallKey>(lower) != key && member_of((*parts)[i], "index") != nullptr) {
      edits.replace(at + "/index", fmt::to_string(lower));
    }
  }
  if (parts != nullptr && left == 0) {
    edits = Splice();
    edits.remove("/choices/0/delta/tool_calls");
  }
  const auto old = choice.calls.find(kOldCall);
  if (old == choice.calls.end() || object_in(delta, "function_call") == nullptr) return edits;
  Call& call = old->second;
  if (call.fate == Call::Fate::Rewrite && !call.rewritten_sent) {
    call.rewritten_sent = true;
    edits.replace("/choices/0/delta/function_call",
                  fmt::format(R"({{"name":{},"arguments":{}}})", json_string(call.name),
                              json_string(call.rewritten)));
  } else if (call.fate != Call::Fate::Pass) {
    edits.remove("/choices/0/delta/function_call");
  }
  return edits;
}

void ChatAdapter::send_calls(Choice& choice, EventSink& out) {
  for (std::size_t i = 0; i < choice.held.size(); ++i) {
    const Held& held = choice.held[i];
    const Result<ParsedJson> parsed = read_wire_json(held.data);
    const json::value& delta = parsed->value.at("choices").at(0).at("delta");
    Splice edits = call_edits(choice, delta);
    const json::array* const parts = array_in(delta, "tool_calls");
    if (!held.more.empty() && parts != nullptr) {
      const Call& call = choice.calls.at(held.call);
      if (call.fate == Call::Fate::Pass) {
        const std::string pointer = fmt::format("/choices/0/delta/tool_calls/0/{}/{}",
                                                body_member(call.type), argument_member(call.type));
        const json::value& body = (*parts)[0].at(body_member(call.type));
        edits.replace(pointer, json_string(std::string(text_in(body, argument_member(call.type))) +
                                           held.more));
      }
    }
    const std::string data = edits.applied(held.data);
    const std::string_view rest = value_at(data, "/choices/0/delta");
    const bool has_calls =
        !value_at(rest, "/tool_calls").empty() || !value_at(rest, "/function_call").empty();
    const bool says_role = !choice.has_role && !text_in(delta, "role").empty();
    if (!has_calls && !says_role) continue;
    choice.has_role = choice.has_role || says_role;
    put_call(choice, i, data, out);
  }
  forget_calls(choice, out);
  choice.held.clear();
}

// A decided call leaves at its place in the queue, else now.
void ChatAdapter::put_call(const Choice& choice, std::size_t held, std::string_view data,
                           EventSink& out) {
  for (Queued& queued : queue_) {
    if (queued.choice != choice.index || queued.held != held) continue;
    queued.choice.reset();
    queued.data = data;
    queued.name = choice.held[held].name;
    return;
  }
  put(data, out, choice.held[held].name);
}

// Parts of calls that still wait never leave.
void ChatAdapter::forget_calls(const Choice& choice, EventSink& out) {
  std::erase_if(queue_, [&](const Queued& queued) { return queued.choice == choice.index; });
  flush(out);
}

}  // namespace sallyport::llm
