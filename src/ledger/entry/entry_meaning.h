// The name and the severity of an entry, for exports to other systems.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "ledger/entry/entry.h"

namespace sallyport::ledger {

struct EntryMeaning {
  std::string signature;  // `tool_audit.blocked`, `control.gap`
  int severity = 1;       // 0 to 10, as CEF has it
};

EntryMeaning meaning_of(const EntryView& entry, const json::object& body);

}  // namespace sallyport::ledger
