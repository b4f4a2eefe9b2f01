// The story of each call of a history, as the disk shows it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/draft.h"
#include "support/call_history_ledger.h"

namespace sallyport::test {

// One call: the positions of its entries, in order.
struct Story {
  std::string call_id;
  std::string trace;
  std::vector<std::uint64_t> records;
  std::vector<std::uint64_t> joins;  // it waits for the approval request of another call
  std::vector<std::uint64_t> intents;
  std::vector<std::uint64_t> events;
  std::string letters;  // one for each event, so that a sequence can be matched
  std::size_t terminals = 0;
};

std::map<std::string, Story> stories_on(const ModelDisk& disk);  // by call id

// Returns an empty string if the member is missing or is not a text.
std::string text_of(const json::object& object, std::string_view name);

// Returns true if the call waits for the answer to a similar call's request (AP-36).
bool is_join(const core::Draft& entry);

// These functions expect a tool-audit record.
bool is_terminal(const core::Draft& record);
std::string effect_of(const core::Draft& record);
std::string outcome_text(const core::Draft& record);  // the reason, the description or the error

// The permitted event endings of a call with this last record (EV-33..EV-44, EV-51): a regular
// expression over letters. Earlier approval requests of the call come before the match.
std::string_view endings_for(const core::Draft& record);

}  // namespace sallyport::test
