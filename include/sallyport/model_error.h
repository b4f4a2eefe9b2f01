// What goes wrong between a program and a model provider, and what that means for a run (EV-90 to
// EV-98).
//
//   ProviderError busy{.kind = ProviderError::Kind::Http, .status = 503, .body = "overloaded"};
//   is_transient(busy);   // true: another attempt may help
//   text_of(busy);        // "http 503: overloaded"
//   RuntimeError error{RuntimeError::Kind::SendRequest, "the request failed", busy};
//   error.category();     // ErrorCategory::Retryable
//   abort_reason(error);  // "error: the request failed", for event::RunAborted
//
// `Engine::http_error` makes one of a response, and `RetrySchedule` says when to ask again.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

namespace core {
class Redactor;
}

struct ProviderError {
  enum class Kind {
    Transport,
    Decode,
    Serialize,
    Deserialize,
    InvalidRequest,
    InvalidResponse,
    MalformedStream,
    UnsupportedCapability,
    Retryable,
    Http,
  };

  Kind kind = Kind::Transport;
  std::string message{};                    // all kinds but Http
  std::optional<std::uint64_t> delay_ms{};  // Retryable: how long the provider wants us to wait
  std::uint64_t status = 0;                 // Http
  std::string body{};                       // Http
  std::optional<std::uint64_t> retry_after_ms{};  // Http

  // A response with an error status. The body is redacted as a whole and then cut to 4 KiB; bytes
  // that are no UTF-8 are replaced. For programs: `Engine::http_error`.
  static ProviderError http(std::uint64_t status, std::string_view body,
                            std::optional<std::chrono::milliseconds> retry_after,
                            const core::Redactor& redactor);

  bool operator==(const ProviderError&) const = default;
};

// Only the members of its kind.
json::object to_json(const ProviderError& error);
Result<ProviderError> provider_error_from_json(const json::value& value,
                                               std::string where = "provider_error");

// Trying the same request again may help.
bool is_transient(const ProviderError& error);

// How long the provider asked us to wait, whichever way it said so.
std::optional<std::chrono::milliseconds> asked_wait(const ProviderError& error);

// One line for logs and `error` fields: `http 503: overloaded`.
std::string text_of(const ProviderError& error);

// What a transport can meet while it asks and listens.
enum class TransportFault {
  NameLookup,
  Connect,
  Tls,
  Reset,
  Silence,
  BrokenEncoding,
  CutBody,
  BadFraming,
  MissingEnd,
};

ProviderError provider_error(TransportFault fault, std::string message);

// An error frame inside a stream. `type` is the provider's own word for it, where it has one.
ProviderError provider_error_of_frame(std::string_view type, std::string message,
                                      std::optional<std::chrono::milliseconds> delay = {});

// Why a run fails or ends.
enum class ErrorCategory {
  Retryable,  // trying again may help
  Degraded,   // the run can go on without it
  Terminal,   // the run ends
};

std::string_view to_string(ErrorCategory category);

struct RuntimeError {
  enum class Kind {
    SendRequest,
    StreamResponse,
    CompactHistory,
    Store,
    TranscriptIo,
    LeaseUnavailable,
    Cancelled,
    DeadlineExceeded,
    ModelBudgetExceeded,
    ToolBudgetExceeded,
    TokenBudgetExceeded,
    LeaseLost,
    OperationDenied,
    InvalidInput,
  };

  Kind kind = Kind::InvalidInput;
  std::string message{};
  std::optional<ProviderError> cause{};

  // Follows from kind and cause.
  ErrorCategory category() const;

  bool operator==(const RuntimeError&) const = default;
};

std::string_view to_string(RuntimeError::Kind kind);

bool is_transient(const RuntimeError& error);

json::object to_json(const RuntimeError& error);

// What `event::RunAborted::reason` says of it: a word that readers count, and the message.
std::string abort_reason(const RuntimeError& error);

}  // namespace sallyport
