// Reads one value from one snapshot of a store.
//
//   SALLYPORT_TRY(const std::uint64_t size, look_at(store, &ReadView::size));
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/try.h"
#include "ledger/store.h"

namespace sallyport::ledger {

// Returns the Result of `look`.
template <class Look>
std::invoke_result_t<Look&, ReadView&> look_at(LedgerStore& store, Look look) {
  std::optional<std::invoke_result_t<Look&, ReadView&>> seen;
  SALLYPORT_CHECK_OK(store.read([&](ReadView& view) -> Result<void> {
    seen = std::invoke(look, view);
    if (!*seen) return std::unexpected(seen->error());
    return {};
  }));
  return *std::move(seen);
}

}  // namespace sallyport::ledger
