// Adapts the answer of one API on its way from the provider to the client. Events or a whole body
// go in; the parts that may leave come out. Each request has one, used on the loop of the request.
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

// Receives the events that leave. Names are those of the API; `data` is JSON or `[DONE]`.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `name` empty: without an `event` line.
  virtual void event(std::string_view name, std::string_view data) = 0;
  // The frame that ends the answer. It leaves after the record is durable (MP-68).
  virtual void last(std::string_view name, std::string_view data) = 0;
};

struct AnswerSettings {
  bool end_on_signed_hit = false;  // `signed_reasoning: end` (MP-49)
  bool block_as_answer = false;    // `block_as: answer` (MP-46)
  bool json_format = false;        // the request asks for JSON (MP-52)
  std::uint64_t choices = 1;       // chat: how many the request asks for (`Request::choices`)
  bool hides_usage = false;  // chat: the proxy asked for usage, and the client did not (MP-73)
  // Responses: the client already has the events up to this number. The provider sends all events
  // again, so that checks see the whole text (MP-65).
  std::optional<std::uint64_t> starting_after{};
};

// What the provider reported, and what the client received instead.
struct Observed {
  std::optional<Usage> usage{};
  bool usage_is_final = true;  // false: it is that of the beginning of a message
  std::string response_id{};
  std::vector<std::string> item_ids{};       // Responses: ids of the items, at most a limit
  std::vector<std::string> file_ids{};       // of files that tools of the provider made or found
  std::vector<std::string> container_ids{};  // in which they ran
  std::string model{};
  std::string stop_reason{};               // the provider's, of the first choice; empty: none
  std::string sent_stop_reason{};          // the one that the client received
  bool stored = false;                     // the provider keeps the response
  bool failed = false;                     // the provider ended the answer with an error of its own
  std::optional<core::TextBlock> block{};  // block of the first message that a check ended
};

class AnswerAdapter {
 public:
  virtual ~AnswerAdapter() = default;

  // Takes one event of the provider. Errors: `Corrupt` (not JSON, or not this API), `Exhausted`
  // (over a limit of MP-48 or MP-78). After an error the caller calls `fail`.
  virtual Task<void> on_event(const net::SseEvent& event, EventSink& out) = 0;
  // The provider's stream has ended. `Corrupt`: in the middle of a message.
  virtual Task<void> on_end(EventSink& out) = 0;
  // Takes a whole body that is not streamed and returns the body that leaves.
  virtual Task<std::string> on_body(std::string body) = 0;

  // Sends a keep-alive while bytes are held (MP-15). May be called while `on_event` waits.
  virtual void keep_alive(EventSink& out) = 0;
  // Sends the failure frame of the API, also in place of a last frame that must not leave.
  // Nothing leaves after it.
  virtual void fail(EventSink& out, const ApiError& error) = 0;

  // True if nothing more leaves, so that the rest of the provider's answer is not needed.
  virtual bool complete() const = 0;
  virtual const Observed& observed() const = 0;
};

std::unique_ptr<AnswerAdapter> anthropic_adapter(MessageDoors& doors, AnswerSettings settings);
std::unique_ptr<AnswerAdapter> chat_adapter(MessageDoors& doors, AnswerSettings settings);
std::unique_ptr<AnswerAdapter> responses_adapter(MessageDoors& doors, AnswerSettings settings);
std::unique_ptr<AnswerAdapter> answer_adapter(Api api, MessageDoors& doors,
                                              AnswerSettings settings);

}  // namespace sallyport::llm
