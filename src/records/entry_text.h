// One entry for a person, or for a program.
#pragma once

#include <string>
#include <vector>

#include "base/json_for_people.h"
#include "ledger/entry/entry.h"
#include "ledger/store.h"
#include "terminal/terminal.h"

namespace sallyport::app {

// An entry with its sealed fields opened as far as they are open.
struct OpenedEntry {
  json::value entry;
  std::vector<ledger::Opening> openings;
  json::value body;
};
Result<OpenedEntry> open_entry(const ledger::StoredEntry& stored);

// Aligned: time, sequence, kind, outcome, tool, agent, what it says.
std::string entry_line(const OpenedEntry& entry, const Terminal& terminal);
std::string entry_line_header(const Terminal& terminal);

// All members, the opened body, the state of each opening, and how to get a receipt; no last LF.
std::string entry_page(const OpenedEntry& entry, const Terminal& terminal);

// `{"entry":{..},"openings":[{"path","form","state"}],"body":{..}}`.
std::string entry_json(const OpenedEntry& entry);

}  // namespace sallyport::app
