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

FacetValues facets_of(const EntryView& entry) {
  FacetValues values;
  for (const Facet facet : kFacets) {
    values[static_cast<std::size_t>(facet)] = facet_value(entry, facet);
  }
  return values;
}

FacetValues facets_of(const SealedDraft& draft) {
  const Subject& subject = draft.subject();
  return {subject.call_id,         subject.session_id, subject.agent_id,
          subject.server,          subject.tool_name,  draft.outcome(),
          to_string(draft.kind()), draft.topic(),      subject.run_id};
}

void BlockIndexer::add(const FacetValues& values, WallTime time, const Uuid& id) {
  if (size_++ == 0) {
    index_.first_time = index_.last_time = time;
    index_.least_id = index_.greatest_id = id;
  }
  index_.first_time = std::min(index_.first_time, time);
  index_.last_time = std::max(index_.last_time, time);
  index_.least_id = std::min(index_.least_id, id);
  index_.greatest_id = std::max(index_.greatest_id, id);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view value = values[i];
    if (value.empty()) continue;
    auto& [counts, last] = facets_[i];
    if (last == nullptr || last->first != value) {
      auto found = counts.find(value);
      if (found == counts.end()) found = counts.try_emplace(std::string(value), 0).first;
      last = &*found;
    }
    ++last->second;
  }
}

BlockIndex BlockIndexer::finish(std::uint64_t block) {
  BlockIndex index = std::exchange(index_, {});
  index.block = block;
  size_ = 0;
  for (const Facet facet : kFacets) {
    const Counted counted = std::exchange(facets_[static_cast<std::size_t>(facet)], {});
    for (const auto& [value, count] : counted.counts) {
      index.counts.push_back({facet, value, count});
    }
  }
  return index;
}

Result<void> add_entry(BlockIndexer& indexer, const EntryView& entry) {
  const std::optional<WallTime> time = from_rfc3339(entry.recorded_at);
  const std::optional<Uuid> id = parse_uuid(entry.id);
  if (!time || !id) return fail(ErrorCode::Corrupt, "an entry has a bad time or id");
  indexer.add(facets_of(entry), *time, *id);
  return {};
}

}  // namespace sallyport::ledger
