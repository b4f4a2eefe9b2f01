// Entries and calls as rows of a list, as a person may see them: short, and without sealed content
// for those who may not read it (CO-44, CO-50).
#pragma once

#include <optional>

#include "api/role.h"
#include "app/records/call_list.h"
#include "app/records/record_pages.h"

namespace sallyport::app {

json::object entry_row(const ledger::StoredEntry& stored, const ledger::EntryView& entry);

// `cut`: texts are cut at 100 bytes.
json::object call_row_json(const CallRow& row, const api::Person& person, bool cut);

// Of the call that an audit record belongs to. Nothing: a newer record of the call is in the view,
// and stands for it.
Result<std::optional<CallRow>> newest_row(ledger::ReadView& view,
                                          const ledger::StoredEntry& stored);

}  // namespace sallyport::app
