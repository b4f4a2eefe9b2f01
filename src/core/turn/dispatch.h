// The dispatch that one event starts. Its questions are named after it and the ends of its calls
// are stored, so that a replay of the dispatch finds both (AP-23, AP-24).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "core/record/record_reader.h"
#include "core/record/redactor.h"

namespace sallyport::core {

// The id must be short, of letters that need no escaping in addresses and on command lines.
Result<void> check_trigger_id(std::string_view trigger_id);
// And it may hold no secret: ids of questions and keys of facts are made of it, and ids are stored
// and shown as they are (AU-84).
Result<void> check_trigger_id(std::string_view trigger_id, const Redactor& redactor);

// `hitl_<kind>_<trigger id>_<n>`, n from 1.
std::string question_id(std::string_view kind, std::string_view trigger_id, std::uint64_t n);
// Returns the first unused id. If two callers ask at once, the commit lets one of them pass.
Result<std::string> fresh_question_id(RecordReader& records, std::string_view kind,
                                      std::string_view trigger_id);

struct DispatchedCall {
  std::string trigger_id;
  std::string request_digest;
};
// Stores the end of a call that an event started, with its terminal record. Identical calls are
// numbered in the order of their ends.
void keep_end_of_dispatched(const DispatchedCall& call, Draft& record);
// The terminal record of the nth such call. No value: there was none.
Result<std::optional<std::uint64_t>> end_of_dispatched(RecordReader& records,
                                                       std::string_view trigger_id,
                                                       std::string_view request_digest,
                                                       std::uint64_t n);

// The progress of a replayed dispatch. May be used from any thread.
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
