// The index of a block of `kBlock` entries, made from the entries alone.
#pragma once

#include <array>
#include <map>

#include "ledger/entry/entry.h"
#include "ledger/store.h"

namespace sallyport::ledger {

const std::string& facet_value(const EntryView& entry, Facet facet);
inline constexpr Facet kFacets[] = {Facet::Call,   Facet::Session, Facet::Agent,
                                    Facet::Server, Facet::Tool,    Facet::Outcome,
                                    Facet::Kind,   Facet::Topic,   Facet::Run};

// The values of an entry, in the order of the facets; empty: it has none.
using FacetValues = std::array<std::string_view, std::size(kFacets)>;
FacetValues facets_of(const EntryView& entry);
FacetValues facets_of(const SealedDraft& draft);

class BlockIndexer {
 public:
  BlockIndexer() = default;
  BlockIndexer(BlockIndexer&&) = default;
  BlockIndexer& operator=(BlockIndexer&&) = default;

  void add(const FacetValues& values, WallTime time, const Uuid& id);
  std::uint64_t size() const { return size_; }
  BlockIndex finish(std::uint64_t block);  // and begins anew

 private:
  std::uint64_t size_ = 0;
  BlockIndex index_;
  using Counts = std::map<std::string, std::uint64_t, std::less<>>;
  struct Counted {
    Counts counts{};
    Counts::value_type* last = nullptr;  // entries of one call stand together
  };
  std::array<Counted, std::size(kFacets)> facets_;
};

// The same from the view of an entry, which has time and id as text.
Result<void> add_entry(BlockIndexer& indexer, const EntryView& entry);

}  // namespace sallyport::ledger
