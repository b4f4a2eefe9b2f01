// What went wrong between us and a model provider, in ten kinds that say whether another attempt
// may help.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/redactor.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::core {

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

  // An answer with an error status. The body is redacted as a whole and then cut to 4 KiB; bytes
  // that are no UTF-8 are replaced.
  static ProviderError http(std::uint64_t status, std::string_view body,
                            std::optional<std::chrono::milliseconds> retry_after,
                            const Redactor& redactor);

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

}  // namespace sallyport::core
