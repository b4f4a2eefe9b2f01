#include "ledger/store.h"

#include <fmt/format.h>

#include "base/try.h"

namespace sallyport::ledger {

std::unexpected<Error> ledger_unavailable(std::string_view cause, std::string_view detail) {
  return fail(cause == "corrupt" ? ErrorCode::Corrupt : ErrorCode::Unavailable,
              fmt::format("ledger_unavailable: {}: {}", cause, detail), {}, std::string(cause));
}

Result<void> WriteView::put_fact(const core::Fact& written) {
  const auto [change, first] = changed_facts_.try_emplace({written.space, written.key});
  if (first) {
    SALLYPORT_TRY(change->second.before, fact(written.space, written.key));
  }
  change->second.after = written.value;
  return store_fact(written);
}

}  // namespace sallyport::ledger
