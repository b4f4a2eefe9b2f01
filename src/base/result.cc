#include "sallyport/result.h"

#include <cstdio>
#include <cstdlib>

#include "base/try.h"

namespace sallyport {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidInput:
      return "invalid_input";
    case ErrorCode::Unauthenticated:
      return "unauthenticated";
    case ErrorCode::NotFound:
      return "not_found";
    case ErrorCode::Conflict:
      return "conflict";
    case ErrorCode::Exhausted:
      return "exhausted";
    case ErrorCode::Deadline:
      return "deadline";
    case ErrorCode::Cancelled:
      return "cancelled";
    case ErrorCode::Unavailable:
      return "unavailable";
    case ErrorCode::Corrupt:
      return "corrupt";
    case ErrorCode::Internal:
      return "internal";
  }
  return "internal";
}

void broken_invariant(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "sallyport: broken invariant `%s` at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace sallyport
