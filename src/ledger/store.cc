#include "ledger/store.h"

#include <fmt/format.h>

#include "base/try.h"

namespace sallyport::ledger {

std::unexpected<Error> ledger_unavailable(std::string_view cause, std::string_view detail) {
  return fail(cause == "corrupt" ? ErrorCode::Corrupt : ErrorCode::Unavailable,
              fmt::format("ledger_unavailable: {}: {}", cause, detail), {}, std::string(cause));
}

Result<void> WriteView::put_fact(const core::Fact& written) {
  SALLYPORT_TRY(std::optional<std::string> before, fact(written.space, written.key));
  SALLYPORT_CHECK_OK(store_fact(written));
  changed_facts_.push_back({written.space, written.key, std::move(before), written.value});
  return {};
}

}  // namespace sallyport::ledger
