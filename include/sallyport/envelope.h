// What an upstream gave, whole: nothing of it leaves before the second door has seen all of it.
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

struct Envelope {
  enum class Kind { Value, Stream, Error };

  Kind kind = Kind::Value;
  json::value value{};                 // Value
  std::vector<json::value> chunks{};   // Stream
  bool complete = true;                // Stream
  std::string reason{};                // Stream that was cut short: why
  std::optional<std::int64_t> code{};  // Error
  std::string message{};               // Error
  json::value data{};                  // Error
  // The bytes that came where they were no answer at all (PI-85): committed to, never released.
  std::optional<std::string> malformed_bytes{};

  static Envelope of(json::value value);
  static Envelope error(std::string message, std::optional<std::int64_t> code = {});
  static Envelope malformed_output(std::string bytes);
  // Of bytes that an upstream sent: a value, or `malformed_output` for what is not strict JSON.
  static Envelope from_upstream(std::string bytes, std::size_t limit = 64u << 20);

  // PI-22.
  json::value to_json() const;
  static Result<Envelope> from_json(const json::value& json);

  // What the caller gets: text as it is, anything else as data with its JSON as text. A value that
  // is a result with documents, as `to_json` writes it, is that result.
  ToolResult to_result() const;
};

// PI-9: equal RFC 8785 bytes.
bool same(const Envelope& a, const Envelope& b);

}  // namespace sallyport
