// The answer of one API, on its way from the provider to the client: events or a whole body go in,
// what may leave comes out. One adapter for each request; on the loop of that request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "llm/api.h"
#include "llm/message_door.h"
#include "net/sse_parser.h"
#include "sallyport/usage.h"

namespace sallyport::llm {

// Where events leave. Names are those of the API; `data` is JSON, or `[DONE]`.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `name` empty: without an `event` line.
  virtual void event(std::string_view name, std::string_view data) = 0;
  // The frame that ends the answer. It leaves once the record is durable (MP-68).
  virtual void last(std::string_view name, std::string_view data) = 0;
};

struct AnswerSettings {
  bool end_on_signed_hit = false;  // `signed_reasoning: end` (MP-49)
  bool block_as_answer = false;    // `block_as: answer` (MP-46)
  bool json_format = false;        // the request asks for JSON (MP-52)
  std::uint64_t choices = 1;       // chat: how many the request asks for (`Request::choices`)
  bool hides_usage = false;  // chat: the proxy asked for usage, and the client did not (MP-73)
  // Responses: the client has the events up to this number from an earlier reading. The provider
  // sends all of them, so that checks see the whole text (MP-65).
  std::optional<std::uint64_t> starting_after{};
};

// What the provider said of itself, and what the client was told instead.
struct Observed {
  std::optional<Usage> usage{};
  std::string response_id{};
  std::vector<std::string> item_ids{};  // Responses: of the items of the answer, bounded
  std::string model{};
  std::string stop_reason{};       // the provider's; empty: none came. Of several choices the first
  std::string sent_stop_reason{};  // what the client got
  bool stored = false;             // the provider keeps the response
  bool failed = false;             // the provider ended the answer with an error of its own
  std::optional<core::TextBlock> block{};  // of the first message that a check ended
};

class AnswerAdapter {
 public:
  virtual ~AnswerAdapter() = default;

  // One event of the provider. Errors: `Corrupt` (no JSON, or not this API), `Exhausted` (over a
  // limit of MP-48 or MP-78). The caller then calls `fail`.
  virtual Task<void> on_event(const net::SseEvent& event, EventSink& out) = 0;
  // The provider's stream has ended. `Corrupt`: in the middle of a message.
  virtual Task<void> on_end(EventSink& out) = 0;
  // A whole body that is not streamed. Gives the body that leaves.
  virtual Task<std::string> on_body(std::string body) = 0;

  // While bytes are held and nothing leaves (MP-15). May be called while `on_event` waits.
  virtual void keep_alive(EventSink& out) = 0;
  // The failure frame of section 5, also in place of a last frame that must not leave. Nothing
  // leaves behind it.
  virtual void fail(EventSink& out, const ApiError& error) = 0;

  // Nothing more leaves: the rest of the provider's answer is not needed.
  virtual bool complete() const = 0;
  virtual const Observed& observed() const = 0;
};

std::unique_ptr<AnswerAdapter> anthropic_adapter(MessageDoors& doors, AnswerSettings settings);
std::unique_ptr<AnswerAdapter> chat_adapter(MessageDoors& doors, AnswerSettings settings);
std::unique_ptr<AnswerAdapter> responses_adapter(MessageDoors& doors, AnswerSettings settings);
std::unique_ptr<AnswerAdapter> answer_adapter(Api api, MessageDoors& doors,
                                              AnswerSettings settings);

}  // namespace sallyport::llm
