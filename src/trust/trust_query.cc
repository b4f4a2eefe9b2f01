#include "trust/trust_query.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace sallyport::trust {

bool TrustQuery::matches(const TrustRecord& record) const {
  if (agent && record.agent != *agent) return false;
  if (action && record.action != *action) return false;
  if (tier && record.autonomy_tier != *tier) return false;
  if (outcome && record.outcome != *outcome) return false;
  if (!since && !until) return true;
  const std::optional<WallTime> time = from_rfc3339(record.timestamp);
  return time && (!since || *time >= *since) && (!until || *time < *until);
}

void TrustSelection::take(TrustRecord record) {
  if (query_.limit == 0 || !query_.matches(record)) return;
  kept_.push_back(std::move(record));
  if (kept_.size() > query_.limit) kept_.pop_front();
}

std::vector<TrustRecord> TrustSelection::records() && {
  return {std::make_move_iterator(kept_.begin()), std::make_move_iterator(kept_.end())};
}

std::vector<TrustTrace> by_trace(std::vector<TrustRecord> records) {
  std::vector<TrustTrace> traces;
  std::map<std::string, std::size_t> places;
  for (TrustRecord& record : records) {
    const auto [place, fresh] = places.try_emplace(record.trace_id, traces.size());
    if (fresh) traces.push_back({record.trace_id, {}});
    traces[place->second].records.push_back(std::move(record));
  }
  return traces;
}

}  // namespace sallyport::trust
