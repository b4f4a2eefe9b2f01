#include "ledger/write/block_index.h"

#include "base/try.h"

namespace sallyport::ledger {

const std::string& facet_value(const EntryView& entry, Facet facet) {
  switch (facet) {
    case Facet::Call:
      return entry.call_id;
    case Facet::Session:
      return entry.session_id;
    case Facet::Agent:
      return entry.agent_id;
    case Facet::Server:
      return entry.server;
    case Facet::Tool:
      return entry.tool_name;
    case Facet::Outcome:
      return entry.outcome;
    case Facet::Kind:
      return entry.kind;
    case Facet::Topic:
      return entry.topic;
    case Facet::Run:
      return entry.run_id;
  }
  return entry.kind;
}

void BlockIndexer::add(const EntryView& entry, WallTime time, const Uuid& id) {
  if (size_++ == 0) {
    index_.first_time = index_.last_time = time;
    index_.least_id = index_.greatest_id = id;
  }
  index_.first_time = std::min(index_.first_time, time);
  index_.last_time = std::max(index_.last_time, time);
  index_.least_id = std::min(index_.least_id, id);
  index_.greatest_id = std::max(index_.greatest_id, id);
  for (const Facet facet : kFacets) {
    const std::string& value = facet_value(entry, facet);
    if (!value.empty()) ++counts_[static_cast<std::size_t>(facet)][value];
  }
}

BlockIndex BlockIndexer::finish(std::uint64_t block) {
  BlockIndex index = std::exchange(index_, {});
  index.block = block;
  size_ = 0;
  for (const Facet facet : kFacets) {
    auto& counts = counts_[static_cast<std::size_t>(facet)];
    for (const auto& [value, count] : counts) index.counts.push_back({facet, value, count});
    counts.clear();
  }
  return index;
}

Result<void> add_entry(BlockIndexer& indexer, const EntryView& entry) {
  const std::optional<WallTime> time = from_rfc3339(entry.recorded_at);
  const std::optional<Uuid> id = parse_uuid(entry.id);
  if (!time || !id) return fail(ErrorCode::Corrupt, "an entry has a bad time or id");
  indexer.add(entry, *time, *id);
  return {};
}

}  // namespace sallyport::ledger
