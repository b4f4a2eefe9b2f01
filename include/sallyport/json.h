// JSON as this library speaks it: Boost.JSON values, read by one strict parser.
//
//   Result<ParsedJson> input = parse_json(R"({"path":"/tmp/x"})");
//   input->value.at("path");                         // "/tmp/x"
//   canonical_json(input->value);                    // {"path":"/tmp/x"}, RFC 8785 bytes
//   parse_json(R"({"a":1,"a":2})").error().message;  // "member `a` stands twice in one object"
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport {

namespace json = boost::json;

// How numbers are read.
enum class Numbers {
  Foreign,  // any JSON number that is finite as a double
  Strict,   // our own documents: only what its own canonical form would be (LE-9)
  Exact,    // as `Foreign`, but a number that a double cannot hold becomes the text of it
};

struct JsonLimits {
  std::size_t bytes = 16 * 1024 * 1024;
  std::size_t depth = 128;
  Numbers numbers = Numbers::Foreign;
  // Values of all depths, and member names. A value of two bytes costs some hundred bytes of memory
  // and a microsecond wherever it is looked at, so bytes alone bound neither.
  std::size_t values = 1'000'000;
};

// The `cause` of an error that says that a text is over one of the limits.
inline constexpr const char* kOverLimit = "limit";

struct ParsedJson {
  json::value value;
  // False when a number of the text is not the number its double prints as: such text is kept and
  // hashed as the bytes that came, because its canonical form would say something else.
  bool exact = true;
  std::size_t values = 0;  // of all depths, and member names
};

// Refuses duplicate member names, invalid UTF-8, lone surrogates, a byte order mark, infinities,
// text behind the value and whatever is over the limits. `where` is `line:column`.
Result<ParsedJson> parse_json(std::string_view text, const JsonLimits& limits = {});

// `parse_json` for our own documents: strict numbers, value alone. Their values are not counted:
// what was written once can be read again.
Result<json::value> parse_own_json(std::string_view text, JsonLimits limits = {});

// RFC 8785. The value must hold valid UTF-8 and finite numbers, as everything `parse_json` returns.
std::string canonical_json(const json::value& value);
void append_canonical_json(std::string& out, const json::value& value);
void append_canonical_string(std::string& out, std::string_view text);

// Is this text what `canonical_json` would write of some value that `parse_own_json` accepts? Says
// so in one pass and without building the value.
bool is_canonical_json(std::string_view text);

// The ECMAScript form of a finite double.
void append_canonical_number(std::string& out, double number);

// RFC 8785's order of member names: by UTF-16 code units.
bool canonical_less(std::string_view a, std::string_view b);

bool is_utf8(std::string_view text);

// True when strings are UTF-8, numbers finite and nesting at most `depth`: what a value that code
// put together must satisfy before it may be hashed.
Result<void> check_json(const json::value& value, std::size_t depth = 128);

}  // namespace sallyport
