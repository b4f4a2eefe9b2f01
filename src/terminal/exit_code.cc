#include "terminal/exit_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/call/governor.h"
#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

// The text names the place, or there is none.
bool names_place(const Error& error) {
  return error.where.empty() || error.message.contains(fmt::format("`{}`", error.where));
}

}  // namespace

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidInput:
      return kUsage;
    case ErrorCode::Internal:
      return kInternal;
    case ErrorCode::Unauthenticated:
    case ErrorCode::NotFound:
    case ErrorCode::Conflict:
    case ErrorCode::Exhausted:
    case ErrorCode::Deadline:
    case ErrorCode::Cancelled:
    case ErrorCode::Unavailable:
    case ErrorCode::Corrupt:
      return kRefused;
  }
  return kInternal;
}

int exit_code(const Error& error) {
  return error.cause == core::kStartRefused ? kInternal : exit_code(error.code);
}

std::string error_line(const Error& error) {
  const std::size_t advice = std::min(error.message.find("; "), error.message.size());
  const std::string where = names_place(error) ? "" : ", " + error.where;
  return visible(fmt::format("sallyport: {}{}{}", error.message.substr(0, advice), where,
                             error.message.substr(advice)));
}

std::string with_place(const Error& error) {
  return names_place(error) ? error.message : fmt::format("{}: {}", error.where, error.message);
}

}  // namespace sallyport::app
