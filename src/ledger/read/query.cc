#include "ledger/read/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>

#include "base/try.h"
#include "ledger/read/stored_entry.h"
#include "ledger/write/block_index.h"

namespace sallyport::ledger {

namespace {

bool matches(const EntryView& entry, const Filter& filter) {
  if (filter.after && entry.sequence <= *filter.after) return false;
  if (filter.before && entry.sequence >= *filter.before) return false;
  if (filter.id && entry.id != *filter.id) return false;
  for (const auto& [facet, value] : filter.facets) {
    if (facet_value(entry, facet) != value) return false;
  }
  if (!filter.since && !filter.until) return true;
  const std::optional<WallTime> time = from_rfc3339(entry.recorded_at);
  return time && (!filter.since || *time >= *filter.since) &&
         (!filter.until || *time < *filter.until);
}

// The view of an entry. An error: damage, with its place.
Result<EntryView> seen_in(const StoredEntry& stored) {
  Result<EntryView> seen = view_entry(*stored.bytes);
  if (seen) return seen;
  SALLYPORT_CHECK_OK(check_leaf(stored));
  return seen;
}

// Decides whether an entry matches a filter.
class Sieve {
 public:
  explicit Sieve(const Filter& filter) : filter_(filter) {
    for (const auto& [name, value] : filter.body) {
      spellings_.push_back(fmt::format("\"{}\":{}", name, canonical_json(value)));
    }
    for (const auto& [facet, value] : filter.facets) {
      if (!value.empty()) spellings_.push_back(canonical_json(json::value(value)));
    }
  }

  // A quick look: values in canonical bytes have one spelling, so most entries are ruled out
  // without reading.
  bool may_pass(const StoredEntry& stored) const {
    return stored.bytes && std::ranges::all_of(spellings_, [&](const std::string& spelling) {
             const std::string& bytes = *stored.bytes;  // every entry is full of quotes: not `find`
             return memmem(bytes.data(), bytes.size(), spelling.data(), spelling.size()) != nullptr;
           });
  }

  // No value: it does not match.
  Result<std::optional<EntryView>> passes(const StoredEntry& stored) const {
    if (!may_pass(stored)) return std::nullopt;
    SALLYPORT_TRY(EntryView entry, seen_in(stored));
    if (!matches(entry, filter_)) return std::nullopt;
    SALLYPORT_TRY(const bool same_body, body_matches(stored));
    if (!same_body) return std::nullopt;
    // Only entries that were signed are returned.
    SALLYPORT_CHECK_OK(check_leaf(stored));
    return entry;
  }

 private:
  // The second check, for values that only the body has.
  Result<bool> body_matches(const StoredEntry& stored) const {
    if (filter_.body.empty()) return true;
    SALLYPORT_TRY(const json::value entry, parse_own_json(*stored.bytes));
    const json::object& body = entry.at("body").as_object();
    return std::ranges::all_of(filter_.body, [&](const auto& wanted) {
      const json::value* const member = body.if_contains(wanted.first);
      return member != nullptr && *member == wanted.second;
    });
  }

  const Filter& filter_;
  std::vector<std::string> spellings_;
};

std::vector<std::uint64_t> all_blocks(std::uint64_t first, std::uint64_t end) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t block = first; block < end; ++block) blocks.push_back(block);
  return blocks;
}

// A malformed id is an error of the caller, not an id without matches (LE-82).
Result<Uuid> wanted_id(const Filter& filter) {
  const std::optional<Uuid> id = parse_uuid(*filter.id);
  if (!id) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{:.40}` is not the id of an entry", *filter.id));
  }
  return *id;
}

constexpr std::size_t kFewBlocks = 1;  // cheaper to read than to ask another index

void keep_common(std::optional<std::vector<std::uint64_t>>& blocks,
                 std::vector<std::uint64_t> named) {
  if (!blocks) {
    blocks = std::move(named);
    return;
  }
  std::vector<std::uint64_t> common;
  std::ranges::set_intersection(*blocks, named, std::back_inserter(common));
  blocks = std::move(common);
}

// The blocks that may hold a match: those that every index names. No value: no index applies and
// all blocks have to be read.
Result<std::optional<std::vector<std::uint64_t>>> named_blocks(ReadView& view, const Filter& filter,
                                                               std::uint64_t first) {
  if (filter.id) {
    SALLYPORT_TRY(const Uuid id, wanted_id(filter));
    return view.blocks_with_id(id);
  }
  std::optional<std::vector<std::uint64_t>> blocks;
  const auto many = [&] { return !blocks || blocks->size() > kFewBlocks; };
  if (filter.since || filter.until) {
    SALLYPORT_TRY(blocks, view.blocks_between(filter.since.value_or(WallTime::min()),
                                              filter.until.value_or(WallTime::max()), first));
  }
  // Facets are ordered from the most selective to the least.
  for (const auto& [facet, value] : filter.facets) {
    if (!many()) break;
    SALLYPORT_TRY(std::vector<std::uint64_t> named, view.blocks_with(facet, value, first));
    keep_common(blocks, std::move(named));
  }
  return blocks;
}

// Only blocks before `indexed`, because another process may have added an index since.
Result<std::optional<std::vector<std::uint64_t>>> candidate_blocks(ReadView& view,
                                                                   const Filter& filter,
                                                                   std::uint64_t first,
                                                                   std::uint64_t indexed) {
  SALLYPORT_TRY(auto blocks, named_blocks(view, filter, first));
  if (blocks) std::erase_if(*blocks, [&](std::uint64_t block) { return block >= indexed; });
  return blocks;
}

}  // namespace

Result<void> find_entries(ReadView& view, const Filter& filter, const OnMatch& on_match) {
  std::size_t found = 0;
  bool more = filter.limit > 0;
  const Sieve sieve(filter);
  const auto look = [&](const StoredEntry& stored) -> Result<bool> {
    SALLYPORT_TRY(const std::optional<EntryView> entry, sieve.passes(stored));
    if (!entry) return true;
    SALLYPORT_TRY(more, on_match(stored, *entry));
    more = more && ++found < filter.limit;
    return more;
  };
  if (filter.id) SALLYPORT_CHECK_OK(wanted_id(filter));
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  const std::uint64_t begin = filter.after ? *filter.after + 1 : 0;
  const std::uint64_t end = std::min(size, filter.before.value_or(size));
  if (begin >= end) return {};
  SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
  SALLYPORT_TRY(const auto blocks, candidate_blocks(view, filter, begin / kBlock, indexed));
  if (!blocks) return more ? view.scan(begin, end, look) : Result<void>{};
  for (const std::uint64_t block : *blocks) {
    if (!more || block * kBlock >= end) return {};
    if ((block + 1) * kBlock <= begin) continue;
    SALLYPORT_CHECK_OK(
        view.scan(std::max(begin, block * kBlock), std::min(end, (block + 1) * kBlock), look));
  }
  const std::uint64_t rest = std::max(begin, indexed * kBlock);
  return more && rest < end ? view.scan(rest, end, look) : Result<void>{};
}

Result<std::vector<StoredEntry>> newest_entries(ReadView& view, const Filter& filter,
                                                std::size_t count) {
  if (filter.id) SALLYPORT_CHECK_OK(wanted_id(filter));
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  const std::uint64_t stop = filter.after ? *filter.after + 1 : 0;
  if (stop >= size) return std::vector<StoredEntry>{};
  SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
  SALLYPORT_TRY(const auto blocks, candidate_blocks(view, filter, stop / kBlock, indexed));
  std::vector<std::uint64_t> left = blocks.value_or(all_blocks(stop / kBlock, indexed));
  // The entries without an index.
  std::ranges::copy(all_blocks(std::max(indexed, stop / kBlock), size / kBlock + 1),
                    std::back_inserter(left));
  const Sieve sieve(filter);
  std::vector<StoredEntry> newest;  // the newest first
  // Backwards, tile by tile, and no further than it takes.
  for (; !left.empty(); left.pop_back()) {
    const std::uint64_t begin = std::max(stop, left.back() * kBlock);
    std::uint64_t end = std::min(size, (left.back() + 1) * kBlock);
    while (end > begin && newest.size() < count) {
      const std::uint64_t from = std::max(begin, (end - 1) / kTile * kTile);
      std::vector<StoredEntry> tile;
      const auto keep = [&](const StoredEntry& stored) -> Result<bool> {
        if (sieve.may_pass(stored)) tile.push_back(stored);
        return true;
      };
      SALLYPORT_CHECK_OK(view.scan(from, end, keep));
      for (; !tile.empty() && newest.size() < count; tile.pop_back()) {
        SALLYPORT_TRY(const std::optional<EntryView> entry, sieve.passes(tile.back()));
        if (entry) newest.push_back(std::move(tile.back()));
      }
      end = from;
    }
    if (newest.size() >= count) break;
  }
  if (newest.size() > count) newest.resize(count);
  std::ranges::reverse(newest);
  return newest;
}

Result<std::map<std::string, std::uint64_t>> count_by(ReadView& view, Facet facet) {
  std::map<std::string, std::uint64_t> counts;
  SALLYPORT_TRY(const std::vector<BlockIndex::Count> totals, view.totals(facet));
  for (const BlockIndex::Count& total : totals) counts[total.value] += total.count;
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  SALLYPORT_TRY(const std::uint64_t indexed, view.indexed_blocks());
  SALLYPORT_CHECK_OK(
      view.scan(indexed * kBlock, size, [&](const StoredEntry& stored) -> Result<bool> {
        if (!stored.bytes) return true;
        SALLYPORT_TRY(const EntryView entry, seen_in(stored));
        const std::string& value = facet_value(entry, facet);
        if (!value.empty()) ++counts[value];
        return true;
      }));
  return counts;
}

Result<SignedNear> signed_near(ReadView& view, std::uint64_t size) {
  constexpr std::uint64_t kLargestCommit = 4096;
  SignedNear near;
  const std::uint64_t begin = size > kLargestCommit ? size - kLargestCommit : 0;
  SALLYPORT_CHECK_OK(
      view.scan(begin, size + kLargestCommit, [&](const StoredEntry& stored) -> Result<bool> {
        if (stored.checkpoint.empty()) return true;
        if (stored.sequence + 1 < size) near.before = stored.sequence + 1;
        if (stored.sequence + 1 <= size) return true;
        near.after = stored.sequence + 1;
        return false;
      }));
  return near;
}

}  // namespace sallyport::ledger
