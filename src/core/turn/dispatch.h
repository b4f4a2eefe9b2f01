// What one event set off: its questions are named after it, and where its calls ended is kept, so
// that the same dispatch made again finds both (AP-23, AP-24).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "core/record/record_reader.h"

namespace sallyport::core {

// Short, and of letters that stand in addresses and on command lines as they are.
Result<void> check_trigger_id(std::string_view trigger_id);

// `hitl_<kind>_<trigger id>_<n>`, n from 1.
std::string question_id(std::string_view kind, std::string_view trigger_id, std::uint64_t n);
// Returns the first unused id. If two callers ask at once, the commit lets one of them pass.
Result<std::string> fresh_question_id(RecordReader& records, std::string_view kind,
                                      std::string_view trigger_id);

struct DispatchedCall {
  std::string trigger_id;  // empty: no event set it off
  std::string request_digest;
};
// Keeps where a call ended that an event set off, with its terminal record. Calls that are alike
// are counted in the order of their ends.
void keep_end_of_dispatched(const DispatchedCall& call, Draft& record);
// The terminal record of the nth such call. No value: there was none.
Result<std::optional<std::uint64_t>> end_of_dispatched(RecordReader& records,
                                                       std::string_view trigger_id,
                                                       std::string_view request_digest,
                                                       std::uint64_t n);

// How far a dispatch that is made again has come. From any thread.
class ReplayCount {
 public:
  explicit ReplayCount(std::string trigger_id) : trigger_id_(std::move(trigger_id)) {}

  const std::string& trigger_id() const { return trigger_id_; }
  std::uint64_t next(const std::string& what) {  // 1, 2, ...
    return counts_.with([&](auto& counts) { return ++counts[what]; });
  }

 private:
  const std::string trigger_id_;
  Guarded<std::map<std::string, std::uint64_t>> counts_;
};

}  // namespace sallyport::core
