// Finds entries by their subject, in write order, without reading the whole log.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger/entry/entry.h"
#include "ledger/store.h"

namespace sallyport::ledger {

struct Filter {
  std::map<Facet, std::string> facets;
  // Members of the body that must have exactly these values. Not indexed: narrow by a facet too.
  std::vector<std::pair<std::string, json::value>> body;
  std::optional<WallTime> since;
  std::optional<WallTime> until;        // strictly before
  std::optional<std::uint64_t> after;   // strictly greater sequence
  std::optional<std::uint64_t> before;  // strictly smaller sequence
  std::optional<std::string> id;
  std::size_t limit = SIZE_MAX;

  bool operator==(const Filter&) const = default;
};

using OnMatch = std::function<Result<bool>(const StoredEntry&, const EntryView&)>;

// Calls `on_match` for each match in write order until it returns false or the limit is reached.
// Entries whose bytes were pruned match nothing.
Result<void> find_entries(ReadView& view, const Filter& filter, const OnMatch& on_match);

// The newest `count` matches, oldest of them first.
Result<std::vector<StoredEntry>> newest_entries(ReadView& view, const Filter& filter,
                                                std::size_t count);

// Counts by value over the whole log, the blocks from their index and the tail from its entries.
Result<std::map<std::string, std::uint64_t>> count_by(ReadView& view, Facet facet);

// The signed sizes next to `size`, which may be signed itself: a commit may hold many entries and
// has one checkpoint. No value: there is none nearby.
struct SignedNear {
  std::optional<std::uint64_t> before;
  std::optional<std::uint64_t> after;
};
Result<SignedNear> signed_near(ReadView& view, std::uint64_t size);

}  // namespace sallyport::ledger
