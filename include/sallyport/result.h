// How things fail in Sallyport: by value, with something the caller can act on.
//
//   Result<int> port = parse_port("70000");
//   if (!port) std::cerr << port.error().message;   // "`70000` is not a port, use 1..65535"
//
// A policy decision is never an Error: a denied call is a `Verdict`, and a good answer.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace sallyport {

// Chosen by what the caller can do next, not by where it happened.
enum class ErrorCode {
  InvalidInput,     // mend the input
  Unauthenticated,  // say who you are
  NotFound,         // it is not there
  Conflict,         // somebody else was first, or the state does not allow it
  Exhausted,        // a limit is reached: wait, or ask for less
  Deadline,         // it took too long
  Cancelled,        // you asked for that
  Unavailable,      // try again later
  Corrupt,          // stored data is not what was written
  Internal,         // a fault of ours
};

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;  // what, and what to do; lower case, outside input in backticks
  std::string where;    // file:line, field, JSON Pointer; empty where there is no place
  std::string cause;  // stable machine word where a caller may branch on it, for example `no_space`

  bool operator==(const Error&) const = default;
};

// `std::expected`, which the compiler does not let anybody drop.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(std::expected<T, Error> value) : std::expected<T, Error>(std::move(value)) {}
};

inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {},
                                   std::string cause = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(where), std::move(cause)});
}

}  // namespace sallyport
