#include "ledger/store_reader.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "ledger/opening_check.h"

namespace sallyport::ledger {

Result<std::optional<std::string>> StoreReader::fact(std::string_view space, std::string_view key) {
  std::optional<std::string> found;
  SALLYPORT_CHECK_OK(store_.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(found, view.fact(space, key));
    return {};
  }));
  return found;
}

Result<std::vector<core::Fact>> StoreReader::facts(std::string_view space) {
  std::vector<core::Fact> found;
  SALLYPORT_CHECK_OK(store_.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(found, view.facts(space));
    return {};
  }));
  return found;
}

Result<json::object> StoreReader::entry(std::uint64_t sequence) {
  json::object found;
  SALLYPORT_CHECK_OK(store_.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::optional<StoredEntry> stored, view.entry(sequence));
    if (!stored || !stored->bytes) {
      return fail(ErrorCode::NotFound, fmt::format("there is no entry {} any more", sequence));
    }
    SALLYPORT_TRY(found, opened_entry(*stored));
    return {};
  }));
  return found;
}

}  // namespace sallyport::ledger
