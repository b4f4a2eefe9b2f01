// The record of one request to a model: an entry of kind `model_audit` (MP-66).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_digest.h"
#include "core/record/recorder.h"
#include "llm/message_door.h"
#include "sallyport/usage.h"

namespace sallyport::proxy {

enum class Outcome : std::uint8_t { Completed, Blocked, Refused, Failed, Cancelled };
std::string_view to_string(Outcome outcome);

// A list of a record is cut at this length; `cut` holds the original length.
inline constexpr std::size_t kLongestList = 256;

struct RecordedCall {
  std::string tool_call_id{};
  std::string call_id{};
  std::string verdict{};
};

struct ModelRecord {
  std::string request_id{};  // also the id of its entry
  std::string agent_id{};
  std::string session_id{};
  std::string trace_id{};
  std::string run_id{};  // the run of our own agent; else empty
  std::string api{};
  std::string route{};
  bool stream = false;
  std::string upstream{};
  std::string credential = "none";
  std::string model{};
  std::string upstream_model{};
  Outcome outcome = Outcome::Failed;
  std::string reason{};
  unsigned status = 0;
  std::uint64_t attempts = 0;
  std::uint64_t client_retry = 0;
  std::string provider_request_id{};
  std::string response_id{};
  bool stored = false;
  std::string stop_reason{};
  std::string sent_stop_reason{};
  std::optional<Usage> usage{};
  std::string usage_source = "none";
  std::optional<std::uint64_t> cost_microusd{};
  std::string price{};
  std::optional<std::uint64_t> first_byte_ms{};
  std::uint64_t duration_ms = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t answer_bytes = 0;  // received texts and arguments; for estimates, not recorded
  std::uint64_t held_max = 0;
  std::map<std::string, json::array> coverage{};  // by kind of channel
  std::uint64_t changes = 0;
  std::vector<std::string> degraded{};
  std::vector<std::pair<std::string, std::string>> unread{};  // path, kind
  std::vector<std::string> unknown{};
  std::vector<RecordedCall> calls{};
  std::vector<std::string> state{};
  std::string request_digest{};
  std::string request{};   // bytes that the entry commits to; never stored
  std::string released{};  // digest of the released bytes
  std::string policy_hash{};
  std::uint64_t generation = 0;

  void degrade(std::string word);  // adds each word once
  // The record without numbers and lists that an entry may be unable to hold.
  ModelRecord reduced() const;
  Subject subject() const;
  // The entry that ends the request.
  core::Draft draft() const;

 private:
  json::object body(std::size_t most) const;  // at most so many elements in each list
};

// The facts that list the open requests of each process.
inline constexpr std::string_view kOpenRequests = "model_request";
// `attempt`: the number of the attempt that is about to be made.
core::Fact open_request(const ModelRecord& record, std::uint64_t attempt,
                        const std::string& instance_id);
// The terminal entry of a request of a dead process. No value: the fact is not such a request.
struct LostRequest {
  std::string instance_id;
  core::Draft draft;
};
std::optional<LostRequest> lost_request(const core::Fact& fact);
// Ends the requests of dead processes. Each gets its terminal entry once.
Task<void> close_lost_requests(core::Recorder& recorder);

}  // namespace sallyport::proxy
