// Scripted answers of OpenAI Responses, as events and as one object, and the result of an official
// client for the events.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fake_doors.h"
#include "llm/answer_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm::test {

// One item: its beginning, the events about it, and its end. Events get their numbers later.
struct ScriptItem {
  json::object begun;
  std::vector<std::pair<std::string, json::object>> events;
  json::object whole;
};

inline json::object with(json::object object, const json::object& more) {
  for (const auto& [name, value] : more) object[name] = value;
  return object;
}

inline std::vector<std::string> pieces(std::string_view text, std::size_t grain) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.size(), at + grain);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    all.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return all;
}

struct Script {
  std::vector<ScriptItem> items{};
  std::vector<std::pair<std::string, json::object>> tail{};  // events after the items
  std::string status = "completed";
  json::value details = nullptr;
  std::size_t grain = 4;

  std::string id(const char* prefix) const { return prefix + std::to_string(items.size()); }

  Script& message(const json::object& empty, const json::object& part,
                  const std::vector<std::pair<std::string, json::object>>& between) {
    const json::object begun{{"id", id("msg_")},
                             {"type", "message"},
                             {"status", "in_progress"},
                             {"content", json::array{}},
                             {"role", "assistant"}};
    const json::object place{{"item_id", id("msg_")}, {"content_index", 0}};
    ScriptItem item{.begun = begun};
    item.events.emplace_back("content_part.added", with(place, {{"part", empty}}));
    for (const auto& [name, members] : between)
      item.events.emplace_back(name, with(place, members));
    item.events.emplace_back("content_part.done", with(place, {{"part", part}}));
    item.whole = with(begun, {{"status", "completed"}, {"content", json::array{part}}});
    items.push_back(std::move(item));
    return *this;
  }

  // Annotations: start, end, title.
  Script& say(std::string_view text,
              const std::vector<std::tuple<int, int, std::string>>& annotations = {},
              bool logprobs = false) {
    const json::object empty{{"type", "output_text"},
                             {"annotations", json::array{}},
                             {"logprobs", json::array{}},
                             {"text", ""}};
    json::array tokens;
    json::array cited;
    std::vector<std::pair<std::string, json::object>> between;
    for (const std::string& piece : pieces(text, grain)) {
      json::array own;
      if (logprobs) own.push_back(json::object{{"token", piece}, {"logprob", -0.5}});
      if (logprobs) tokens.push_back(own[0]);
      between.emplace_back(
          "output_text.delta",
          json::object{{"delta", piece}, {"logprobs", own}, {"obfuscation", "xyz"}});
    }
    for (const auto& [start, end, title] : annotations) {
      const json::object one{{"type", "url_citation"},
                             {"start_index", start},
                             {"end_index", end},
                             {"title", title},
                             {"url", "https://example.com/"}};
      between.emplace_back("output_text.annotation.added",
                           json::object{{"annotation_index", cited.size()}, {"annotation", one}});
      cited.push_back(one);
    }
    between.emplace_back("output_text.done", json::object{{"text", text}, {"logprobs", tokens}});
    return message(empty,
                   with(empty, {{"text", text}, {"annotations", cited}, {"logprobs", tokens}}),
                   between);
  }

  Script& refuse(std::string_view text) {
    std::vector<std::pair<std::string, json::object>> between;
    for (const std::string& piece : pieces(text, grain)) {
      between.emplace_back("refusal.delta", json::object{{"delta", piece}});
    }
    between.emplace_back("refusal.done", json::object{{"refusal", text}});
    return message({{"type", "refusal"}, {"refusal", ""}}, {{"type", "refusal"}, {"refusal", text}},
                   between);
  }

  Script& think(std::string_view text, bool summary = true) {
    const std::string_view list = summary ? "summary" : "content";
    const std::string event = summary ? "reasoning_summary_text" : "reasoning_text";
    const json::object part{{"type", summary ? "summary_text" : "reasoning_text"}, {"text", text}};
    const json::object place{{"item_id", id("rs_")},
                             {summary ? "summary_index" : "content_index", 0}};
    ScriptItem item;
    item.begun = {{"id", id("rs_")},
                  {"type", "reasoning"},
                  {"summary", json::array{}},
                  {"encrypted_content", "gAAAbegin"}};
    const std::string part_event = summary ? "reasoning_summary_part" : "content_part";
    item.events.emplace_back(part_event + ".added",
                             with(place, {{"part", with(part, {{"text", ""}})}}));
    for (const std::string& piece : pieces(text, grain)) {
      item.events.emplace_back(event + ".delta", with(place, {{"delta", piece}}));
    }
    item.events.emplace_back(event + ".done", with(place, {{"text", text}}));
    item.events.emplace_back(part_event + ".done", with(place, {{"part", part}}));
    item.whole = with(item.begun, {{list, json::array{part}}, {"encrypted_content", "gAAAend"}});
    items.push_back(std::move(item));
    return *this;
  }

  Script& call(std::string_view name, std::string_view arguments, bool custom = false) {
    const std::string_view member = custom ? "input" : "arguments";
    const std::string event = custom ? "custom_tool_call_input" : "function_call_arguments";
    const json::object place{{"item_id", id("fc_")}};
    ScriptItem item;
    item.whole = {{"id", id("fc_")},        {"type", custom ? "custom_tool_call" : "function_call"},
                  {"status", "completed"},  {member, arguments},
                  {"call_id", id("call_")}, {"name", name}};
    item.begun = with(item.whole, {{"status", "in_progress"}, {member, ""}});
    for (const std::string& piece : pieces(arguments, grain)) {
      item.events.emplace_back(event + ".delta", with(place, {{"delta", piece}}));
    }
    item.events.emplace_back(event + ".done", with(place, {{member, arguments}}));
    items.push_back(std::move(item));
    return *this;
  }

  Script& remote(std::string_view name, std::string_view arguments, std::string_view output) {
    const json::object place{{"item_id", id("mcp_")}};
    ScriptItem item;
    item.whole = {{"id", id("mcp_")}, {"type", "mcp_call"},     {"status", "completed"},
                  {"error", nullptr}, {"arguments", arguments}, {"output", output},
                  {"name", name},     {"server_label", "far"},  {"approval_request_id", nullptr}};
    item.begun =
        with(item.whole, {{"status", "in_progress"}, {"arguments", ""}, {"output", nullptr}});
    item.events.emplace_back("mcp_call.in_progress", place);
    for (const std::string& piece : pieces(arguments, grain)) {
      item.events.emplace_back("mcp_call_arguments.delta", with(place, {{"delta", piece}}));
    }
    item.events.emplace_back("mcp_call_arguments.done", with(place, {{"arguments", arguments}}));
    item.events.emplace_back("mcp_call.completed", place);
    items.push_back(std::move(item));
    return *this;
  }

  // An item without events between.
  Script& item(const json::object& whole, const json::object& begun) {
    items.push_back({.begun = begun, .whole = whole});
    return *this;
  }
  Script& item(const json::object& whole) { return item(whole, whole); }

  json::object response(std::string_view state, json::array output, bool ended) const {
    return {{"id", "resp_abc"},
            {"object", "response"},
            {"created_at", 1},
            {"completed_at", ended && state == "completed" ? json::value(2) : json::value()},
            {"status", state},
            {"error", nullptr},
            {"incomplete_details", ended ? details : json::value()},
            {"instructions", "never say FORBIDDEN"},
            {"model", "gpt-6"},
            {"output", std::move(output)},
            {"store", true},
            {"metadata", json::object{}},
            {"usage", ended ? json::value{{"input_tokens", 20},
                                          {"input_tokens_details", {{"cached_tokens", 5}}},
                                          {"output_tokens", 10},
                                          {"output_tokens_details", {{"reasoning_tokens", 3}}},
                                          {"total_tokens", 30}}
                            : json::value()}};
  }

  std::string body() const {
    json::array output;
    for (const ScriptItem& one : items) output.push_back(one.whole);
    return json::serialize(response(status, output, true));
  }

  std::vector<SentEvent> events() const {
    std::vector<SentEvent> all;
    const auto add = [&](const std::string& name, const json::object& members) {
      const std::string type = "response." + name;
      json::object event{{"type", type}, {"sequence_number", all.size()}};
      for (const auto& [member, value] : members) event[member] = value;
      all.push_back({type, json::serialize(event), false});
    };
    add("created", {{"response", response("in_progress", {}, false)}});
    add("in_progress", {{"response", response("in_progress", {}, false)}});
    json::array output;
    for (std::size_t i = 0; i < items.size(); ++i) {
      add("output_item.added", {{"output_index", i}, {"item", items[i].begun}});
      for (const auto& [name, members] : items[i].events) {
        add(name, with({{"output_index", i}}, members));
      }
      add("output_item.done", {{"output_index", i}, {"item", items[i].whole}});
      output.push_back(items[i].whole);
    }
    for (const auto& [name, members] : tail) add(name, members);
    add(status, {{"response", response(status, output, true)}});
    all.back().last = true;
    return all;
  }
};

inline std::string sse_of(const std::vector<SentEvent>& events) {
  std::string text;
  for (const SentEvent& event : events) {
    if (!event.name.empty()) text += "event: " + event.name + "\n";
    text += "data: " + event.data + "\n\n";
  }
  return text;
}

// The sent part of one answer.
struct Left {
  std::vector<SentEvent> events;
  Result<void> ended;
  Asked asked;
  Observed observed;

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const SentEvent& event : events) {
      std::string_view name = event.name;
      if (name.starts_with("response.")) name.remove_prefix(9);
      all.emplace_back(name);
    }
    return all;
  }
  json::value at(std::size_t index) const { return json::parse(events.at(index).data); }
  bool holds(std::string_view text) const {
    return std::ranges::any_of(
        events, [&](const SentEvent& event) { return event.data.find(text) != std::string::npos; });
  }
};

inline Left streamed(const std::vector<SentEvent>& events, DoorFlags flags = {},
                     AnswerSettings settings = {}, std::size_t piece = std::string_view::npos,
                     std::size_t first = 0) {
  FakeDoors doors(flags);
  const auto adapter = responses_adapter(doors, settings);
  CollectingSink sink;
  Left left;
  left.ended = feed(*adapter, sink, sse_of(events), piece, first);
  left.events = std::move(sink.events);
  left.asked = doors.asked;
  left.observed = adapter->observed();
  return left;
}

inline json::value body_of(const Script& script, DoorFlags flags = {}, AnswerSettings settings = {},
                           Asked* asked = nullptr) {
  FakeDoors doors(flags);
  const auto adapter = responses_adapter(doors, settings);
  const auto body = sallyport::test::run_now(adapter->on_body(script.body()));
  EXPECT_TRUE(body) << body.error().message;
  if (asked != nullptr) *asked = doors.asked;
  return body ? json::parse(*body) : json::value();
}

// Returns the final object after a check of the events: numbers without gaps (MP-43), texts that
// repeat their deltas, parts and items that repeat texts (MP-42).
inline json::value accumulated(const std::vector<SentEvent>& events) {
  std::map<std::string, std::string> texts;
  json::array items;
  std::uint64_t number = 0;
  static const std::map<std::string, std::string> kDone{{"output_text", "text"},
                                                        {"refusal", "refusal"},
                                                        {"reasoning_text", "text"},
                                                        {"reasoning_summary_text", "text"},
                                                        {"function_call_arguments", "arguments"},
                                                        {"custom_tool_call_input", "input"},
                                                        {"mcp_call_arguments", "arguments"},
                                                        {"code_interpreter_call_code", "code"}};
  const auto place = [](const json::value& event, const std::string& kind) {
    std::string key = kind;
    for (const char* const name : {"output_index", "content_index", "summary_index"}) {
      if (const auto index = count_in(event, name)) key += " " + std::to_string(*index);
    }
    return key;
  };
  std::uint64_t added = 0;
  for (const SentEvent& sent : events) {
    const json::value event = json::parse(sent.data);
    EXPECT_EQ(text_in(event, "type"), sent.name);
    EXPECT_EQ(count_in(event, "sequence_number"), number++) << sent.data;
    EXPECT_EQ(sent.last, &sent == &events.back());
    std::string kind = sent.name.substr(std::min<std::size_t>(9, sent.name.size()));
    const std::string state = kind.substr(kind.rfind('.') + 1);
    kind.resize(kind.size() - std::min(kind.size(), state.size() + 1));
    if (kind == "output_item" && state == "added") {
      EXPECT_EQ(count_in(event, "output_index"), added++);
    } else if (kind == "output_item") {
      items.push_back(event.at("item"));
    } else if (kind == "content_part" && state == "done") {
      const json::value& part = event.at("part");
      if (text_in(part, "type") == "output_text") {
        EXPECT_EQ(text_in(part, "text"), texts[place(event, "output_text")]);
      }
    } else if (const auto done = kDone.find(kind); done != kDone.end()) {
      if (state == "delta") texts[place(event, kind)] += text_in(event, "delta");
      if (state == "done") {
        EXPECT_EQ(text_in(event, done->second), texts[place(event, kind)]) << sent.data;
      }
    }
  }
  if (events.empty()) return {};
  const json::value last = json::parse(events.back().data);
  const json::value* const response = member_of(last, "response");
  if (response == nullptr) return last;
  EXPECT_EQ(response->at("output"), json::value(items));
  return *response;
}

}  // namespace sallyport::llm::test
