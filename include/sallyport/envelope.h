// An envelope holds the whole result of an upstream: a value, a stream or an error. No part of it
// leaves before the result guards have seen all of it.
//
//   Envelope envelope = Envelope::of({{"rows", 3}});
//   envelope.to_json();                                     // {"kind":"value","value":{"rows":3}}
//   envelope.to_result().output;                            // "{\"rows\":3}"
//   Envelope::error("no such table").to_result().success;   // false
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sallyport/call.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// A value. The comment of a field names the kind that uses it.
struct Envelope {
  enum class Kind { Value, Stream, Error };

  Kind kind = Kind::Value;
  json::value value{};                 // Value
  std::vector<json::value> chunks{};   // Stream
  bool complete = true;                // Stream
  std::string reason{};                // Stream that is not complete: why
  std::optional<std::int64_t> code{};  // Error
  std::string message{};               // Error
  json::value data{};                  // Error
  // The received bytes if they were not a valid answer. A record commits to them; no caller gets
  // them (PI-85).
  std::optional<std::string> malformed_bytes{};

  static Envelope of(json::value value);  // a whole value
  static Envelope error(std::string message, std::optional<std::int64_t> code = {});
  static Envelope malformed_output(std::string bytes);
  // Parses the bytes of an upstream: a value, or `malformed_output` if they are not strict JSON.
  static Envelope from_upstream(std::string bytes, std::size_t limit = 64u << 20);

  // The JSON form of an envelope (PI-22).
  json::value to_json() const;
  // `InvalidInput` names the member that is missing or has a wrong type.
  static Result<Envelope> from_json(const json::value& json);

  // Converts to what the caller gets. Text stays text; any other value becomes data, with its JSON
  // as text. A value that is the JSON of a result with documents becomes that result.
  ToolResult to_result() const;
};

// True if both have equal RFC 8785 bytes (PI-9).
bool same(const Envelope& a, const Envelope& b);

}  // namespace sallyport
