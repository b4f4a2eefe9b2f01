#include "ledger/read/store_reader.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "ledger/read/stored_entry.h"

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

Result<core::RecordReader::Moment> StoreReader::moment(const std::vector<core::FactKey>& keys) {
  Moment found;
  const auto look = [&](ReadView& view) -> Result<void> {
    found.values.clear();
    SALLYPORT_TRY(found.size, view.size());
    for (const core::FactKey& key : keys) {
      SALLYPORT_TRY(std::optional<std::string> value, view.fact(key.space, key.key));
      found.values.push_back(std::move(value));
    }
    return {};
  };
  SALLYPORT_CHECK_OK(store_.read(look, keys));
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
