// What the disk tells about each call of a history.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/draft.h"
#include "support/call_history_ledger.h"

namespace sallyport::test {

// One call: where its entries stand, in order.
struct Story {
  std::string call_id;
  std::string trace;
  std::vector<std::uint64_t> records;
  std::vector<std::uint64_t> joins;  // it waits for what another call asked
  std::vector<std::uint64_t> intents;
  std::vector<std::uint64_t> events;
  std::string letters;  // one for each event, so that a sequence can be matched
  std::size_t terminals = 0;
};

std::map<std::string, Story> stories_on(const ModelDisk& disk);  // by call id

// Empty where it is not there, or no text.
std::string text_of(const json::object& object, std::string_view name);

// The call waits for the answer to a question about another one like it (AP-36).
bool is_join(const core::Draft& entry);

// Of a tool-audit record.
bool is_terminal(const core::Draft& record);
std::string effect_of(const core::Draft& record);
std::string outcome_text(const core::Draft& record);  // the reason, the description or the error

// How the events of a call may end that has this last record (EV-33..EV-44, EV-51): a regular
// expression over letters. Questions that were asked before stand in front of it.
std::string_view endings_for(const core::Draft& record);

}  // namespace sallyport::test
