// Streams of chat completions for tests, and the official client's result for them.
#pragma once

#include <fmt/format.h>

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fake_doors.h"
#include "llm/json_splice.h"
#include "sallyport/json.h"

namespace sallyport::llm::test::chat {

inline std::string frame(std::string_view data) {
  return fmt::format("data: {}\n\n", data);
}

inline std::string done() {
  return frame("[DONE]");
}

// The data of a chunk in the form that we derive from the provider's chunk.
inline std::string chunk(unsigned index, std::string_view delta,
                         std::string_view finish_reason = "null",
                         std::string_view logprobs = "null") {
  return fmt::format(
      R"({{"id":"c1","object":"chat.completion.chunk","created":7,"model":"gpt-x","choices":)"
      R"([{{"index":{},"delta":{},"logprobs":{},"finish_reason":{}}}]}})",
      index, delta, logprobs, finish_reason);
}

inline std::string role(unsigned index = 0) {
  return frame(chunk(index, R"({"role":"assistant","content":""})"));
}

inline std::string text(const std::vector<std::string>& pieces, std::string_view member = "content",
                        unsigned index = 0) {
  std::string sse;
  for (const std::string& piece : pieces) {
    sse += frame(chunk(index, fmt::format(R"({{"{}":{}}})", member, json_string(piece))));
  }
  return sse;
}

inline std::string call(unsigned at, std::string_view name, const std::vector<std::string>& pieces,
                        unsigned index = 0) {
  std::string sse = frame(chunk(
      index,
      fmt::format(
          R"({{"tool_calls":[{{"index":{0},"id":"call_{0}","type":"function","function":{{"name":"{1}","arguments":""}}}}]}})",
          at, name)));
  for (const std::string& piece : pieces) {
    sse += frame(chunk(
        index, fmt::format(R"({{"tool_calls":[{{"index":{},"function":{{"arguments":{}}}}}]}})", at,
                           json_string(piece))));
  }
  return sse;
}

inline std::string custom(unsigned at, std::string_view name,
                          const std::vector<std::string>& pieces) {
  std::string sse = frame(chunk(
      0,
      fmt::format(
          R"({{"tool_calls":[{{"index":{0},"id":"call_{0}","type":"custom","custom":{{"name":"{1}","input":""}}}}]}})",
          at, name)));
  for (const std::string& piece : pieces) {
    sse +=
        frame(chunk(0, fmt::format(R"({{"tool_calls":[{{"index":{},"custom":{{"input":{}}}}}]}})",
                                   at, json_string(piece))));
  }
  return sse;
}

inline std::string finish(std::string_view reason = "stop", unsigned index = 0) {
  return frame(chunk(index, "{}", json_string(reason)));
}

inline std::string usage() {
  return frame(
      R"({"id":"c1","object":"chat.completion.chunk","created":7,"model":"gpt-x","choices":[],"usage":{"prompt_tokens":25,"completion_tokens":40,"total_tokens":65,"prompt_tokens_details":{"cached_tokens":5}}})");
}

inline std::vector<SentEvent> events_of(std::string_view sse) {
  net::SseParser parser(std::size_t{16} * 1024 * 1024);
  parser.feed(sse);
  std::vector<SentEvent> events;
  while (auto event = parser.next()) events.push_back({event->name, event->data});
  return events;
}

inline void join(json::object& into, std::string_view member, const json::value& piece) {
  if (!piece.is_string()) return;
  if (!into[member].is_string()) into[member] = "";
  into[member] = std::string(into[member].as_string()) + std::string(piece.as_string());
}

inline json::value& place(json::array& list, std::size_t index) {
  while (list.size() <= index) list.push_back(json::object());
  return list[index];
}

inline void join_calls(json::object& message, const json::array& parts) {
  json::value& calls = message["tool_calls"];
  if (!calls.is_array()) calls = json::array();
  for (const json::value& part : parts) {
    json::object& made =
        place(calls.as_array(), part.at("index").to_number<std::size_t>()).as_object();
    for (const auto& [name, value] : part.as_object()) {
      if (name == "index") continue;
      if (name != "function" && name != "custom") {
        made[name] = value;
        continue;
      }
      if (!made.contains(name)) made[name] = json::object();
      for (const auto& [inner, one] : value.as_object()) {
        if (inner == "name") {
          made[name].as_object()[inner] = one;
        } else {
          join(made[name].as_object(), inner, one);
        }
      }
    }
  }
}

// The final result of the official client's `ChatCompletionStream`.
inline json::value accumulate(const std::vector<SentEvent>& events) {
  json::object completion;
  json::array choices;
  for (const SentEvent& sent : events) {
    if (sent.data == "[DONE]") break;
    const json::value chunk = json::parse(sent.data);
    for (const auto& [name, value] : chunk.as_object()) {
      if (name != "choices" && name != "obfuscation") completion[name] = value;
    }
    for (const json::value& one : chunk.at("choices").as_array()) {
      json::object& choice = place(choices, one.at("index").to_number<std::size_t>()).as_object();
      if (!choice.contains("message")) choice["message"] = json::object();
      for (const auto& [name, value] : one.as_object()) {
        if (name != "delta" && !value.is_null()) choice[name] = value;
      }
      json::object& message = choice["message"].as_object();
      for (const auto& [name, value] : one.at("delta").as_object()) {
        if (name == "tool_calls") {
          join_calls(message, value.as_array());
        } else if (name == "function_call") {
          if (!message.contains("function_call")) message["function_call"] = json::object();
          for (const auto& [inner, piece] : value.as_object()) {
            join(message["function_call"].as_object(), inner, piece);
          }
        } else if (name == "content" || name == "refusal" || name == "reasoning_content" ||
                   name == "reasoning") {
          join(message, name, value);
        } else {
          message[name] = value;
        }
      }
    }
  }
  completion["object"] = "chat.completion";
  completion["choices"] = std::move(choices);
  return completion;
}

// Null and empty texts are equal for a client that accumulates.
inline json::value without_nulls(const json::value& value) {
  if (value.is_array()) {
    json::array made;
    for (const json::value& one : value.get_array()) made.push_back(without_nulls(one));
    return made;
  }
  if (!value.is_object()) return value;
  json::object made;
  for (const auto& [name, one] : value.get_object()) {
    if (!one.is_null() && one != "") made[name] = without_nulls(one);
  }
  return made;
}

struct Answer {
  explicit Answer(DoorFlags flags = {}, AnswerSettings settings = {})
      : doors(flags), adapter(chat_adapter(doors, settings)) {}

  Result<void> send(std::string_view sse, std::size_t piece = std::string_view::npos,
                    std::size_t first = 0) {
    return feed(*adapter, out, sse, piece, first);
  }
  std::vector<std::string> sent() const {
    std::vector<std::string> all;
    for (const SentEvent& event : out.events) all.push_back(event.data);
    return all;
  }
  json::value completion() const { return without_nulls(accumulate(out.events)); }
  json::value choice(std::size_t index = 0) const { return completion().at("choices").at(index); }
  json::value message(std::size_t index = 0) const { return choice(index).at("message"); }

  FakeDoors doors;
  std::unique_ptr<AnswerAdapter> adapter;
  CollectingSink out;
};

}  // namespace sallyport::llm::test::chat
