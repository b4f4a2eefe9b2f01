#include "records/opened_entries.h"

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/read/stored_entry.h"

namespace sallyport::app {

Result<void> visit_opened(
    ledger::ReadView& view, const ledger::Filter& filter,
    const std::function<bool(const json::object& entry, const json::object& body)>& visit) {
  return ledger::find_entries(
      view, filter,
      [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
        SALLYPORT_TRY(const json::object entry, ledger::opened_entry(stored));
        const json::object* const body = object_in(entry, "body");
        return body == nullptr || visit(entry, *body);
      });
}

}  // namespace sallyport::app
