// Ids as people type them: whole, or a prefix that is unique in this ledger.
#pragma once

#include <string>

#include "ledger/read/query.h"
#include "workspace/context.h"

namespace sallyport::app {

// A shorter prefix is not accepted as an abbreviation.
inline constexpr std::size_t kShortestId = 4;

// The id of an approval request, a question or a waiting escalation. The part before its first
// separator (`apr_`, `esc-`) may be left out. A text that no id begins with comes back as it is,
// and is refused where it is used. `InvalidInput`: several ids begin with it.
Result<std::string> whole_request_id(const Context& context, const std::string& text);

// The same for ids of calls.
Result<std::string> whole_call_id(ledger::ReadView& view, const std::string& text);

// Puts the whole id into a filter that names a call.
Result<void> complete_call(ledger::ReadView& view, ledger::Filter& filter);

}  // namespace sallyport::app
