// JSON in this library: Boost.JSON values, one strict parser and one canonical writer.
//
//   Result<ParsedJson> input = parse_json(R"({"path":"/tmp/x"})");
//   input->value.at("path");                         // "/tmp/x"
//   canonical_json(input->value);                    // {"path":"/tmp/x"}, RFC 8785 bytes
//   parse_json(R"({"a":1,"a":2})").error().message;  // "member `a` occurs twice in one object"
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

namespace json = boost::json;

// How the parser reads numbers.
enum class Numbers {
  Foreign,  // any JSON number that is finite as a double
  Strict,   // our own documents: only numbers in canonical form (LE-9)
  Exact,    // as `Foreign`, but a number that a double cannot hold becomes its text
};

// Bounds of one text. A text over a bound is refused.
struct JsonLimits {
  std::size_t bytes = 16 * 1024 * 1024;
  std::size_t depth = 128;
  Numbers numbers = Numbers::Foreign;
  // Number of values at all depths, plus member names. A value of two bytes costs about a hundred
  // bytes of memory and a microsecond for each pass over it, so `bytes` alone bounds neither.
  std::size_t values = 1'000'000;
};

// The `cause` of an error about a text over one of the limits.
inline constexpr const char* kOverLimit = "limit";

struct ParsedJson {
  json::value value;
  // False if a double cannot hold a number of the text exactly. Keep and hash the received bytes of
  // such a text: its canonical form means something else.
  bool exact = true;
  std::size_t values = 0;  // number of values at all depths, plus member names
};

// Parses one JSON value. It refuses duplicate member names, invalid UTF-8, lone surrogates, a byte
// order mark, infinities, text after the value and anything over the limits. `Error::where` is
// `line:column`.
Result<ParsedJson> parse_json(std::string_view text, const JsonLimits& limits = {});

// Parses one of our own documents, with strict numbers. The number of values is not limited, so
// that everything that was written can be read again.
Result<json::value> parse_own_json(std::string_view text, JsonLimits limits = {});

// Writes RFC 8785 text. Strings must be valid UTF-8 and numbers finite, as in every value that
// `parse_json` returns.
std::string canonical_json(const json::value& value);
void append_canonical_json(std::string& out, const json::value& value);
void append_canonical_string(std::string& out, std::string_view text);

// True if `canonical_json` would write exactly this text for a value that `parse_own_json` accepts.
// Takes one pass and does not build the value.
bool is_canonical_json(std::string_view text);

// Appends the ECMAScript form of a finite double.
void append_canonical_number(std::string& out, double number);

// The order of member names in RFC 8785: by UTF-16 code units.
bool canonical_less(std::string_view a, std::string_view b);

bool is_utf8(std::string_view text);

// Checks a value that code built: strings are UTF-8, numbers are finite, nesting is at most
// `depth`. Only such a value may be hashed.
Result<void> check_json(const json::value& value, std::size_t depth = 128);

}  // namespace sallyport
