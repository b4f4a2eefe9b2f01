#include "ledger/store.h"

#include <fmt/format.h>

namespace sallyport::ledger {

std::unexpected<Error> ledger_unavailable(std::string_view cause, std::string_view detail) {
  return fail(cause == "corrupt" ? ErrorCode::Corrupt : ErrorCode::Unavailable,
              fmt::format("ledger_unavailable: {}: {}", cause, detail), {}, std::string(cause));
}

}  // namespace sallyport::ledger
