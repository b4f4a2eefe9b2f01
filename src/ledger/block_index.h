// What a block of 256 entries says about itself, made from the entries alone.
#pragma once

#include <map>

#include "ledger/entry.h"
#include "ledger/store.h"

namespace sallyport::ledger {

std::string_view facet_name(Facet facet);
const std::string& facet_value(const EntryView& entry, Facet facet);
inline constexpr Facet kFacets[] = {Facet::Call,   Facet::Session, Facet::Agent, Facet::Server,
                                    Facet::Tool,   Facet::Outcome, Facet::Kind,  Facet::Topic};

class BlockIndexer {
 public:
  Result<void> add(const EntryView& entry);
  BlockIndex finish(std::uint64_t block);

 private:
  bool empty_ = true;
  BlockIndex index_;
  std::map<std::pair<Facet, std::string>, std::uint64_t> counts_;
};

}  // namespace sallyport::ledger
