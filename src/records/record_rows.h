// Entries and calls as rows of a list, as a person may see them: short, and without sealed content
// for those who may not read it (CO-44, CO-50).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "api/role.h"
#include "base/guarded.h"
#include "records/call_list.h"
#include "records/record_pages.h"

namespace sallyport::app {

json::object entry_row(const ledger::StoredEntry& stored, const ledger::EntryView& entry);

json::object call_row_json(const CallRow& row, const api::Person& person);

// With texts of at most 100 bytes, as a list shows them.
CallRow cut_texts(CallRow row);

// The row of the call that an audit record belongs to, as this record says.
struct OpenedRow {
  CallRow row;
  bool terminal = false;  // nothing that follows changes it
};
Result<OpenedRow> open_row(const ledger::StoredEntry& stored);

// Rows of calls. Final rows are cached, so that a repeated list opens only new entries. May be used
// from any thread.
class CallRows {
 public:
  // The row of the call of an audit record; `stored` has the bytes of its leaf. No value: a newer
  // record of the call is in the view and gives its row.
  Result<std::optional<CallRow>> newest(ledger::ReadView& view, const ledger::StoredEntry& stored);

 private:
  Guarded<std::unordered_map<std::string, CallRow>> kept_;
};

}  // namespace sallyport::app
