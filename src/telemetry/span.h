// One operation, from its start to its end, as an OpenTelemetry span. A value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace sallyport::telemetry {

// The trace that a span belongs to (W3C trace context).
struct TraceContext {
  std::array<std::uint8_t, 16> trace{};
  std::array<std::uint8_t, 8> span{};
  bool sampled = false;  // whether the trace is exported

  // Reads a `traceparent`; no value: it is malformed.
  static std::optional<TraceContext> parse(std::string_view traceparent);
  std::string text() const;      // as a `traceparent`
  std::string trace_id() const;  // 32 hex digits

  bool operator==(const TraceContext&) const = default;
};

struct Span {
  enum class Kind { Internal = 1, Server = 2, Client = 3 };  // as OTLP numbers them
  using Value = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

  std::string name{};
  Kind kind = Kind::Internal;
  TraceContext context{};
  std::optional<std::array<std::uint8_t, 8>> parent{};
  WallTime begin{};
  WallTime end{};
  std::vector<std::pair<std::string, Value>> attributes{};
  bool failed = false;

  // Sets an attribute: a name, number or id, never content of calls, prompts or answers. An empty
  // text is left out, a long one is cut.
  void set(std::string key, std::string_view value);
  void set(std::string key, const char* value) { set(std::move(key), std::string_view(value)); }
  void set(std::string key, std::int64_t value) { attributes.emplace_back(std::move(key), value); }
  void set(std::string key, std::vector<std::string> values);
  // Sets `error.type`. Empty: the operation succeeded.
  void fail(std::string_view error_type);
};

}  // namespace sallyport::telemetry
