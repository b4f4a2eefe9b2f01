// Errors in Sallyport are values. Each one tells the caller what to do next.
//
//   Result<int> port = parse_port("70000");
//   if (!port) std::cerr << port.error().message;   // "`70000` is not a port, use 1..65535"
//
// A policy decision is never an Error. A denied call is a `Verdict`, and its answer is a success.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace sallyport {

// A code says what the caller can do, not where the error happened.
enum class ErrorCode {
  InvalidInput,     // correct the input
  Unauthenticated,  // authenticate first
  NotFound,         // the thing does not exist
  Conflict,         // another caller was first, or the state does not allow it
  Exhausted,        // a limit is reached: wait, or ask for less
  Deadline,         // the time limit passed
  Cancelled,        // the caller cancelled
  Unavailable,      // try again later
  Corrupt,          // stored data differs from what was written
  Internal,         // a bug in Sallyport
};

std::string_view to_string(ErrorCode code);

// A value. What went wrong, where, and what to do.
struct Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;  // what is wrong and what to do; lower case, outside input in backticks
  std::string where;    // file:line, field or JSON Pointer; empty: there is no place
  std::string cause;    // a stable word that callers may branch on, such as `no_space`

  bool operator==(const Error&) const = default;
};

// `std::expected` with an attribute: the compiler reports a result that is not used.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(std::expected<T, Error> value) : std::expected<T, Error>(std::move(value)) {}
};

// Builds the error of a function that returns `Result`.
inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {},
                                   std::string cause = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(where), std::move(cause)});
}

}  // namespace sallyport
