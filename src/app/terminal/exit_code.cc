#include "app/terminal/exit_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/terminal/terminal.h"

namespace sallyport::app {

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

std::string error_line(const Error& error) {
  const std::size_t advice = std::min(error.message.find("; "), error.message.size());
  return visible(fmt::format("sallyport: {}{}{}{}", error.message.substr(0, advice),
                             error.where.empty() ? "" : ", ", error.where,
                             error.message.substr(advice)));
}

}  // namespace sallyport::app
