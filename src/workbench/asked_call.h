// A call that is explained: as people write it, or as it is on record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ledger/store.h"
#include "workbench/explanation.h"

namespace sallyport::app {

// The record of a call that was made before.
struct RecordedCall {
  RecordedDecision decision{};
  json::object body{};
  std::optional<Envelope> result{};  // of the tool; no value: not kept
};

struct AskedCall {
  Call call{};
  std::optional<RecordedCall> then{};
};

// A call as people write it. `where` is how messages name the text.
Result<AskedCall> asked_call(const std::string& text, const std::string& where);
Result<AskedCall> asked_call(const json::value& value, const std::string& where);
// The text of `input` in the text of a call, if a double cannot hold one of its numbers (LE-10).
std::optional<std::string> inexact_input(std::string_view call);
// A recorded call: `body` is the opened body of `entry`.
AskedCall asked_in(const json::object& entry, const json::object& body);
// The record that ended the call, else the last one about it. `id` is whole.
Result<AskedCall> recorded_call(ledger::LedgerStore& store, const std::string& id);

}  // namespace sallyport::app
