// Answers of both APIs as providers send them, and their meaning.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/answer_reader.h"
#include "agent/model/model.h"

namespace sallyport::agent {

// Two calls with interleaved fragments, text with letters of several bytes, comments, an unknown
// event and unknown fields, and CRLF in places.
inline constexpr std::string_view kChatStream =
    ": a comment\n\n"
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":"
    "{\"role\":\"assistant\",\"content\":\"Gr\xC3\xBC\xC3\x9F\"},\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" dich \\ud83d\\ude00\","
    "\"reasoning_content\":\"hm\"},\"finish_reason\":null}],\"obfuscation\":\"xyz\"}\r\n\r\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"call_b\","
    "\"type\":\"function\",\"function\":{\"name\":\"list_files\",\"arguments\":\"\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_a\","
    "\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"pa\"}},"
    "{\"index\":1,\"function\":{\"arguments\":\"{\\\"path\\\":\"}}]}}]}\n\n"
    "event: vendor.note\ndata: {\"vendor\":true}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":"
    "{\"arguments\":\"\\\".\\\"}\"}},{\"index\":0,\"function\":{\"arguments\":\"th\\\":\\\"\xC3\xA4"
    "\\\"}\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],"
    "\"usage\":null}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,"
    "\"total_tokens\":18,\"prompt_tokens_details\":{\"cached_tokens\":3},"
    "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}\n\n"
    "data: [DONE]\n\n";

inline constexpr std::string_view kAnthropicStream =
    "event: message_start\ndata: "
    "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"role\":"
    "\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":11,\"output_tokens\":1,"
    "\"cache_read_input_tokens\":3,\"cache_creation_input_tokens\":4}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
    "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\"Gr\xC3\xBC\xC3\x9F\"}}\r\n\r\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,"
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"call_a\",\"name\":\"read_file\",\"input\":{}"
    "}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
    "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"pa\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\" dich \\ud83d\\ude00\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
    "{\"type\":\"input_json_delta\",\"partial_json\":\"th\\\":\\\"\xC3\xA4\\\"}\"}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,"
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"call_b\",\"name\":\"list_files\",\"input\":"
    "{\"path\":\".\"},\"caller\":{\"type\":\"direct\"}}}\n\n"
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n"
    "event: vendor_note\ndata: {\"type\":\"vendor_note\"}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
    "\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":7}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

// A message, or the error in its place.
struct Read {
  MessageBuilder message{};
  std::optional<ProviderError> error{};
};

// `cut`: bytes of the first piece; `step`: bytes of each later piece.
inline Read read_stream(std::unique_ptr<FrameReader> frames, std::string_view bytes,
                        std::size_t cut = std::string_view::npos,
                        std::size_t step = std::string_view::npos) {
  Read read;
  AnswerReader reader(std::move(frames));
  std::size_t size = cut;
  while (!bytes.empty() && !reader.ended() && !read.error) {
    std::vector<ModelEvent> events;
    const std::string_view piece = bytes.substr(0, size);
    const ModelResult<void> fed = reader.feed(piece, events);
    for (const ModelEvent& event : events) {
      const ModelResult<void> added = read.message.add(event);
      if (!added && !read.error) read.error = added.error();
    }
    if (!fed && !read.error) read.error = fed.error();
    bytes.remove_prefix(piece.size());
    size = step;
  }
  if (!read.error && !reader.ended()) {
    if (const ModelResult<void> finished = reader.finish(); !finished) {
      read.error = finished.error();
    }
  }
  return read;
}

}  // namespace sallyport::agent
