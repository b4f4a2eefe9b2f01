// A model that answers in a stream: over HTTP (Anthropic Messages, chat completions), or from a
// script. It sends and reads. It does not decide, record or retry.
//
//   ModelResult<std::unique_ptr<ModelStream>> opened = co_await model.open(request, cancel);
//   while (true) {
//     ModelResult<std::optional<ModelEvent>> event = co_await (*opened)->next();
//     if (!event || !*event) break;   // an error, or the proper end
//     builder.add(**event);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/async.h"
#include "sallyport/json.h"
#include "sallyport/model_error.h"
#include "sallyport/usage.h"
#include "sessions/item.h"

namespace sallyport::agent {

template <class T>
using ModelResult = std::expected<T, ProviderError>;

// A tool as it is offered to the model.
struct OfferedTool {
  std::string name{};
  std::string description{};
  json::object schema{};  // JSON Schema of its input
  std::string server{};   // the server that wrote these texts; empty: a tool of our own
};

// The purpose of a request. A script has a separate text for summaries.
enum class Purpose : std::uint8_t { Round, Summary };

struct ModelRequest {
  Purpose purpose = Purpose::Round;
  std::uint64_t attempt = 1;  // attempt number, from 1; used by faults of a script
  std::string model{};
  std::string system{};
  std::vector<sessions::Item> history{};
  // The recalled memory. It is sent after the history and never stored in it (RT-57).
  std::string recalled{};
  std::vector<OfferedTool> tools{};
  std::uint64_t max_output_tokens = 4096;
};

struct TextDelta {
  std::string text;
};
// A fragment of a call. The first one has the id and the name; later ones may leave them empty.
// `index` is the index in `tool_calls`, or of the content block.
struct CallDelta {
  std::uint64_t index = 0;
  std::string id{};
  std::string name{};
  std::string arguments{};  // a fragment of the JSON text
};
struct UsageReport {
  Usage usage;
};
struct StopReport {
  std::string reason;     // the provider's own word
  bool at_limit = false;  // the output was cut at its limit (RT-23)
};
using ModelEvent = std::variant<TextDelta, CallDelta, UsageReport, StopReport>;

// An open answer. Destroying it closes the connection.
class ModelStream {
 public:
  virtual ~ModelStream() = default;
  // No value: the answer is complete (`message_stop`; `[DONE]`, or a finish reason at the end).
  // `malformed_stream`: RT-91, or a missing end. `transport`: no byte for 60 s, or a reset; after a
  // cancel, with the message `cancelled`.
  virtual Async<ModelResult<std::optional<ModelEvent>>> next() = 0;
  virtual std::uint64_t bytes() const = 0;              // of the answer so far
  virtual std::string provider_request_id() const = 0;  // empty: none
};

// One for each agent. Use it on a strand or on a context with one thread.
class Model {
 public:
  virtual ~Model() = default;
  // Returns when a 2xx response is open. The error of any other response has its status, its body
  // (redacted, at most 4 KiB) and its `Retry-After`. `invalid_request`: the key is missing or does
  // not fit into a header. A cancel ends the wait with `transport`, `cancelled`.
  virtual Async<ModelResult<std::unique_ptr<ModelStream>>> open(ModelRequest request,
                                                                std::stop_token cancel) = 0;
  virtual std::string api() const = 0;       // `anthropic.messages`, `openai.chat`, `script`
  virtual std::string upstream() const = 0;  // host of the address, or the script's file name
  // The key that was sent last. Callers remove it from records and messages. Empty: none.
  virtual std::string credential() const = 0;
};

// The message of the error with which a cancel ends a wait.
inline constexpr const char* kCancelled = "cancelled";

// One call of a message, with the arguments as received.
struct ModelCall {
  std::string id{};
  std::string name{};
  std::string arguments{};
};

// Builds a message from events. The result does not depend on how the stream was cut (RT-17).
class MessageBuilder {
 public:
  // `malformed_stream`: a fragment of a call that never began, a call without an id or a name,
  // two calls with one id, more than 16 MiB, or more than 256 calls.
  ModelResult<void> add(const ModelEvent& event);

  const std::string& text() const { return text_; }
  const std::vector<ModelCall>& calls() const { return calls_; }  // in the order of their indexes
  const std::optional<Usage>& usage() const { return usage_; }
  const std::string& stop_reason() const { return stop_reason_; }
  bool at_limit() const { return at_limit_; }

 private:
  ModelResult<void> add_call(const CallDelta& delta);

  std::string text_;
  std::vector<ModelCall> calls_;
  std::vector<std::uint64_t> indexes_;  // of the calls
  std::size_t bytes_ = 0;
  std::optional<Usage> usage_;
  std::string stop_reason_;
  bool at_limit_ = false;
};

}  // namespace sallyport::agent
