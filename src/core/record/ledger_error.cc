#include "core/record/ledger_error.h"

#include <fmt/format.h>

namespace sallyport::core {

namespace {

constexpr std::string_view kCode = "ledger_unavailable";

}  // namespace

std::unexpected<Error> ledger_error(std::string_view cause, std::string_view detail) {
  return fail(cause == "corrupt" ? ErrorCode::Corrupt : ErrorCode::Unavailable,
              fmt::format("{}: {}: {}", kCode, cause, detail), {}, std::string(cause));
}

bool is_ledger_error(const Error& error) {
  return error.message.contains(kCode);
}

std::string ledger_error_detail(const Error& error) {
  const std::string prefix = fmt::format("{}: {}: ", kCode, error.cause);
  return error.message.starts_with(prefix) ? error.message.substr(prefix.size()) : error.message;
}

}  // namespace sallyport::core
