// Errors between a program and a model provider, and what they mean for a run (EV-90 to EV-98).
//
//   ProviderError busy{.kind = ProviderError::Kind::Http, .status = 503, .body = "overloaded"};
//   is_transient(busy);   // true: another attempt may help
//   text_of(busy);        // "http 503: overloaded"
//   RuntimeError error{RuntimeError::Kind::SendRequest, "the request failed", busy};
//   error.category();     // ErrorCategory::Retryable
//   abort_reason(error);  // "error: the request failed", for event::RunAborted
//
// `Engine::http_error` builds a `ProviderError` from a response. `RetrySchedule` says when to try
// again.
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

// A value. One failure of one request. The comment of a field names the kinds that use it.
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
  std::string message{};                          // all kinds except Http
  std::optional<std::uint64_t> delay_ms{};        // Retryable: the wait that the provider asks for
  std::uint64_t status = 0;                       // Http
  std::string body{};                             // Http
  std::optional<std::uint64_t> retry_after_ms{};  // Http

  // Builds the error of a response with an error status. The whole body is redacted and then cut to
  // 4 KiB. Bytes that are not UTF-8 are replaced. Programs call `Engine::http_error` instead.
  static ProviderError http(std::uint64_t status, std::string_view body,
                            std::optional<std::chrono::milliseconds> retry_after,
                            const core::Redactor& redactor);

  bool operator==(const ProviderError&) const = default;
};

// Writes only the members of its kind.
json::object to_json(const ProviderError& error);
// `InvalidInput` names the member that is missing, has a wrong type or an unknown word.
Result<ProviderError> provider_error_from_json(const json::value& value,
                                               std::string where = "provider_error");

// True if the same request may succeed later.
bool is_transient(const ProviderError& error);

// The wait that the provider asks for, from either field; no value: it asks for none.
std::optional<std::chrono::milliseconds> asked_wait(const ProviderError& error);

// One line for logs and `error` fields, such as `http 503: overloaded`.
std::string text_of(const ProviderError& error);

// Faults of the transport during a request or a response.
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

// Builds the error of an error frame inside a stream. `type` is the provider's word for it, if any.
ProviderError provider_error_of_frame(std::string_view type, std::string message,
                                      std::optional<std::chrono::milliseconds> delay = {});

// What an error means for a run.
enum class ErrorCategory {
  Retryable,  // a retry may help
  Degraded,   // the run can continue without the failed part
  Terminal,   // the run ends
};

std::string_view to_string(ErrorCategory category);

// A value. Why a run fails or ends.
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

  // Computed from kind and cause.
  ErrorCategory category() const;

  bool operator==(const RuntimeError&) const = default;
};

std::string_view to_string(RuntimeError::Kind kind);

bool is_transient(const RuntimeError& error);

json::object to_json(const RuntimeError& error);

// The text for `event::RunAborted::reason`: one of the words of docs/events.md, then the message.
std::string abort_reason(const RuntimeError& error);

}  // namespace sallyport
