#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "base/cut_text.h"
#include "base/lower_case.h"
#include "base/object_reader.h"
#include "core/record/read_field.h"
#include "core/record/redactor.h"
#include "sallyport/model_error.h"

namespace sallyport {

namespace {

using core::read_word;
using core::Redactor;
using core::Word;
using core::word_of;

using ProviderKind = ProviderError::Kind;

constexpr std::size_t kLongestBody = 4096;

constexpr Word<ProviderKind> kProviderKinds[] = {
    {"transport", ProviderKind::Transport},
    {"decode", ProviderKind::Decode},
    {"serialize", ProviderKind::Serialize},
    {"deserialize", ProviderKind::Deserialize},
    {"invalid_request", ProviderKind::InvalidRequest},
    {"invalid_response", ProviderKind::InvalidResponse},
    {"malformed_stream", ProviderKind::MalformedStream},
    {"unsupported_capability", ProviderKind::UnsupportedCapability},
    {"retryable", ProviderKind::Retryable},
    {"http", ProviderKind::Http},
};

// Each byte that belongs to no code point becomes U+FFFD.
std::string as_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    std::size_t size = 1;
    while (size < 4 && size < bytes.size() && !is_utf8(bytes.substr(0, size))) ++size;
    if (is_utf8(bytes.substr(0, size))) {
      text += bytes.substr(0, size);
      bytes.remove_prefix(size);
    } else {
      text += "\uFFFD";
      bytes.remove_prefix(1);
    }
  }
  return text;
}

std::string redacted(std::string_view body, const Redactor& redactor) {
  constexpr const char* kUnreadable = "[REDACTED:unreadable]";
  json::value value(as_utf8(body));
  try {
    redactor.redact("body", value);
  } catch (const std::exception&) {
    return kUnreadable;
  }
  return value.is_string() ? std::string(value.get_string()) : kUnreadable;
}

json::value number_or_null(const std::optional<std::uint64_t>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

std::optional<std::uint64_t> whole_ms(std::optional<std::chrono::milliseconds> time) {
  if (!time) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time->count(), 0));
}

bool says_try_later(std::string_view text) {
  std::string words = lower_case(text);
  std::ranges::replace_if(words, [](char c) { return c == ' ' || c == '-'; }, '_');
  // `resource_exhausted` is how Google's APIs say that a rate limit is reached.
  for (const std::string_view phrase :
       {"overloaded", "rate_limit", "ratelimit", "too_many_requests", "resource_exhausted"}) {
    if (words.contains(phrase)) return true;
  }
  return false;
}

}  // namespace

ProviderError ProviderError::http(std::uint64_t status, std::string_view body,
                                  std::optional<std::chrono::milliseconds> retry_after,
                                  const Redactor& redactor) {
  return {.kind = ProviderKind::Http,
          .status = status,
          .body = cut_utf8_bytes(redacted(body, redactor), kLongestBody),
          .retry_after_ms = whole_ms(retry_after)};
}

json::object to_json(const ProviderError& error) {
  const std::string_view kind = word_of(kProviderKinds, error.kind);
  if (error.kind == ProviderKind::Http) {
    return {{"kind", kind},
            {"status", error.status},
            {"body", error.body},
            {"retry_after_ms", number_or_null(error.retry_after_ms)}};
  }
  json::object object{{"kind", kind}, {"message", error.message}};
  if (error.kind == ProviderKind::Retryable) object["delay_ms"] = number_or_null(error.delay_ms);
  return object;
}

Result<ProviderError> provider_error_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  ProviderError error{.kind = read_word(in, "kind", kProviderKinds)};
  if (error.kind == ProviderKind::Http) {
    error.status = in.number("status");
    error.body = in.text("body");
    error.retry_after_ms = in.optional_number("retry_after_ms");
  } else {
    error.message = in.text("message");
  }
  if (error.kind == ProviderKind::Retryable) error.delay_ms = in.optional_number("delay_ms");
  if (!in.ok()) return std::unexpected(in.error());
  return error;
}

bool is_transient(const ProviderError& error) {
  switch (error.kind) {
    case ProviderKind::Transport:
    case ProviderKind::Decode:
    case ProviderKind::Retryable:
      return true;
    case ProviderKind::Http:
      return (error.status >= 500 && error.status <= 599) || error.status == 429 ||
             error.status == 408;
    default:
      return false;
  }
}

std::optional<std::chrono::milliseconds> asked_wait(const ProviderError& error) {
  const auto& asked = error.kind == ProviderKind::Http ? error.retry_after_ms : error.delay_ms;
  if (!asked) return std::nullopt;
  return std::chrono::milliseconds(*asked);
}

std::string text_of(const ProviderError& error) {
  if (error.kind == ProviderKind::Http) return fmt::format("http {}: {}", error.status, error.body);
  return fmt::format("{}: {}", word_of(kProviderKinds, error.kind), error.message);
}

ProviderError provider_error(TransportFault fault, std::string message) {
  switch (fault) {
    case TransportFault::NameLookup:
    case TransportFault::Connect:
    case TransportFault::Tls:
    case TransportFault::Reset:
    case TransportFault::Silence:
      return {.kind = ProviderKind::Transport, .message = std::move(message)};
    case TransportFault::BrokenEncoding:
    case TransportFault::CutBody:
      return {.kind = ProviderKind::Decode, .message = std::move(message)};
    case TransportFault::BadFraming:
    case TransportFault::MissingEnd:
      break;
  }
  return {.kind = ProviderKind::MalformedStream, .message = std::move(message)};
}

ProviderError provider_error_of_frame(std::string_view type, std::string message,
                                      std::optional<std::chrono::milliseconds> delay) {
  if (!says_try_later(type) && !says_try_later(message)) {
    return {.kind = ProviderKind::InvalidResponse, .message = std::move(message)};
  }
  return {
      .kind = ProviderKind::Retryable, .message = std::move(message), .delay_ms = whole_ms(delay)};
}

}  // namespace sallyport
