#include "ledger/read/last_record.h"

#include <boost/json.hpp>

#include "base/try.h"
#include "core/record/stored_record.h"
#include "ledger/read/look_at.h"
#include "ledger/read/query.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::ledger {

Result<std::optional<json::object>> last_record(LedgerStore& store, const std::string& session_id,
                                                const std::string& tool_call_id, WallTime since) {
  const Filter filter{.facets = {{Facet::Session, session_id}, {Facet::Kind, "tool_audit"}},
                      .body = {{"tool_call_id", json::value(tool_call_id)}},
                      .since = since};
  SALLYPORT_TRY(const std::vector<StoredEntry> found,
                look_at(store, [&](ReadView& view) { return newest_entries(view, filter, 1); }));
  if (found.empty()) return std::nullopt;
  SALLYPORT_TRY(const json::object entry, opened_entry(found.front()));
  return core::audit_json(entry);
}

}  // namespace sallyport::ledger
