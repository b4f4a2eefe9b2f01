// Streams of Anthropic Messages for tests, and the official client's result for them.
#pragma once

#include <fmt/format.h>

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fake_doors.h"
#include "llm/json_splice.h"
#include "sallyport/json.h"

namespace sallyport::llm::test::anthropic {

inline std::string frame(std::string_view data) {
  const std::string_view type = value_at(data, "/type");  // with its quotes
  return fmt::format("event: {}\ndata: {}\n\n", type.substr(1, type.size() - 2), data);
}

inline std::string begin() {
  return frame(
      R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",)"
      R"("model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,)"
      R"("usage":{"input_tokens":25,"cache_read_input_tokens":7,"output_tokens":1}}})");
}

inline std::string start(unsigned index, std::string_view block) {
  return frame(fmt::format(R"({{"type":"content_block_start","index":{},"content_block":{}}})",
                           index, block));
}

inline std::string delta(unsigned index, std::string_view delta) {
  return frame(
      fmt::format(R"({{"type":"content_block_delta","index":{},"delta":{}}})", index, delta));
}

inline std::string stop(unsigned index) {
  return frame(fmt::format(R"({{"type":"content_block_stop","index":{}}})", index));
}

inline std::string finish(std::string_view reason = "end_turn") {
  return frame(fmt::format(
             R"({{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":null}},)"
             R"("usage":{{"output_tokens":40}}}})",
             reason)) +
         frame(R"({"type":"message_stop"})");
}

inline std::string text(unsigned index, const std::vector<std::string>& pieces) {
  std::string sse = start(index, R"({"type":"text","text":""})");
  for (const std::string& piece : pieces) {
    sse += delta(index, fmt::format(R"({{"type":"text_delta","text":{}}})", json_string(piece)));
  }
  return sse + stop(index);
}

inline std::string thinking(unsigned index, const std::vector<std::string>& pieces,
                            std::string_view signature = "c2ln") {
  std::string sse = start(index, R"({"type":"thinking","thinking":"","signature":""})");
  for (const std::string& piece : pieces) {
    sse += delta(index,
                 fmt::format(R"({{"type":"thinking_delta","thinking":{}}})", json_string(piece)));
  }
  if (!signature.empty()) {
    sse += delta(index, fmt::format(R"({{"type":"signature_delta","signature":"{}"}})", signature));
  }
  return sse + stop(index);
}

inline std::string call(unsigned index, std::string_view name,
                        const std::vector<std::string>& pieces,
                        std::string_view type = "tool_use") {
  std::string sse = start(
      index,
      fmt::format(R"({{"type":"{}","id":"call_{}","name":"{}","input":{{}}}})", type, index, name));
  for (const std::string& piece : pieces) {
    sse += delta(index, fmt::format(R"({{"type":"input_json_delta","partial_json":{}}})",
                                    json_string(piece)));
  }
  return sse + stop(index);
}

inline std::vector<SentEvent> events_of(std::string_view sse) {
  net::SseParser parser(std::size_t{16} * 1024 * 1024);
  parser.feed(sse);
  std::vector<SentEvent> events;
  while (auto event = parser.next()) events.push_back({event->name, event->data});
  return events;
}

// The final result of the official client's `MessageStream`.
inline json::value accumulate(const std::vector<SentEvent>& events) {
  json::object message;
  std::map<std::uint64_t, std::string> arguments;
  for (const SentEvent& sent : events) {
    const json::value event = json::parse(sent.data);
    const std::string type(event.at("type").as_string());
    if (type == "message_start") message = event.at("message").as_object();
    if (type == "content_block_start") {
      message["content"].as_array().push_back(event.at("content_block"));
      EXPECT_EQ(event.at("index").to_number<std::size_t>() + 1,
                message["content"].as_array().size());
    }
    if (type == "content_block_delta") {
      const auto index = event.at("index").to_number<std::uint64_t>();
      json::object& block = message["content"].as_array().at(index).as_object();
      const json::value& delta = event.at("delta");
      const auto add = [&](const char* member) {
        block[member] =
            std::string(block[member].as_string()) + std::string(delta.at(member).as_string());
      };
      const std::string kind(delta.at("type").as_string());
      if (kind == "text_delta") add("text");
      if (kind == "thinking_delta") add("thinking");
      if (kind == "signature_delta") block["signature"] = delta.at("signature");
      if (kind == "compaction_delta") block["content"] = delta.at("content");
      if (kind == "citations_delta") {
        if (!block["citations"].is_array()) block["citations"] = json::array();
        block["citations"].as_array().push_back(delta.at("citation"));
      }
      if (kind == "input_json_delta") arguments[index] += delta.at("partial_json").as_string();
    }
    if (type == "content_block_stop") {
      const auto index = event.at("index").to_number<std::uint64_t>();
      boost::system::error_code error;
      json::value input = json::parse(arguments[index], error);
      if (error) input = json::object();
      if (!arguments[index].empty()) {
        message["content"].as_array().at(index).as_object()["input"] = std::move(input);
      }
    }
    if (type == "message_delta") {
      for (const auto& member : event.at("delta").as_object()) {
        message[member.key()] = member.value();
      }
      for (const auto& member : event.at("usage").as_object()) {
        message["usage"].as_object()[member.key()] = member.value();
      }
    }
  }
  return message;
}

// An adapter with its doors and its output.
struct Answer {
  explicit Answer(DoorFlags flags = {}, AnswerSettings settings = {})
      : doors(flags), adapter(anthropic_adapter(doors, settings)) {}

  Result<void> send(std::string_view sse, std::size_t piece = std::string_view::npos,
                    std::size_t first = 0) {
    return feed(*adapter, out, sse, piece, first);
  }
  // Returns the sent events, one `data` a line.
  std::vector<std::string> sent() const {
    std::vector<std::string> all;
    for (const SentEvent& event : out.events) all.push_back(event.data);
    return all;
  }
  json::value message() const { return accumulate(out.events); }
  json::value content() const { return message().at("content"); }

  FakeDoors doors;
  std::unique_ptr<AnswerAdapter> adapter;
  CollectingSink out;
};

}  // namespace sallyport::llm::test::anthropic
