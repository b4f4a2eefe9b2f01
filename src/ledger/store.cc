#include "ledger/store.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/try.h"
#include "core/record/ledger_error.h"

namespace sallyport::ledger {

Result<void> LedgerStore::add_block_index(const BlockIndex& index, std::string_view seal) {
  return write([&](WriteView& view) -> Result<void> {
    SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
    return index.block < indexed ? Result<void>{} : view.put_block_index(index, seal);
  });
}

std::unexpected<Error> ledger_unavailable(std::string_view cause, std::string_view detail) {
  return core::ledger_error(cause, detail);
}

std::unexpected<Error> ledger_damaged(std::string_view detail) {
  return ledger_unavailable("corrupt", fmt::format("{}; run `sallyport ledger verify`", detail));
}

std::string_view cause_of(int system_error) {
  switch (system_error) {
    case ENOSPC:
    case EDQUOT:
      return "no_space";
    case EROFS:
      return "read_only";
    case EACCES:
    case EPERM:
      return "not_owner";
    default:
      return "io";
  }
}

Result<void> WriteView::put_fact(const core::Fact& written) {
  const auto [change, first] = changed_facts_.try_emplace({written.space, written.key});
  if (first) {
    SALLYPORT_TRY(change->second.before, fact(written.space, written.key));
  }
  change->second.after = written.value;
  return store_fact(written);
}

Result<void> WriteView::replace_openings(std::uint64_t sequence, std::string_view packed) {
  altered_.push_back({sequence, sequence + 1});
  return store_openings(sequence, packed);
}

Result<void> WriteView::drop_bytes(std::uint64_t begin, std::uint64_t end) {
  altered_.push_back({begin, end});
  return clear_bytes(begin, end);
}

}  // namespace sallyport::ledger
