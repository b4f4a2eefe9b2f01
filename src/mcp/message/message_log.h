// Counts what the gateway did to messages without a record of their own: lists, initialization,
// notifications and unknown methods. The counts are written to the ledger as entries of topic
// `mcp`.
//
//   {"record":"mcp_messages","messages":[{"what":"redacted","from":"server","method":"tools/list",
//    "count":1,"evidence":["output-sanitizer: aws_access_key_id=1"]}]}
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/async.h"
#include "base/bell.h"
#include "core/approval/escalations.h"
#include "core/record/record_log.h"
#include "core/record/redactor.h"
#include "mcp/message/methods.h"

namespace sallyport::mcp {

// What guards found in a message. Each finding and escalation becomes an entry of its own. Those
// that repeat one of the same write are counted.
struct FoundInMessage {
  std::vector<Finding> findings{};
  std::vector<core::Escalation> escalations{};
};

// On the strand of its gateway, which owns it.
class MessageLog {
 public:
  enum class Action {
    Redacted,  // a guard changed it
    Withheld,  // a guard blocked it
    Refused,   // a request with an unknown method, or an unreadable one
    Dropped,   // a notification with such a method
    Passed,    // a notification with such a method that the policy lets pass
    Trimmed,   // members that no message has were left out
    Noted,     // a guard found something and changed nothing
  };
  MessageLog(core::RecordLog& records, core::Escalations& escalations,
             const core::Redactor& redactor, Subject subject)
      : records_(records),
        escalations_(escalations),
        redactor_(redactor),
        subject_(std::move(subject)) {}

  // True: no write is under way, so the caller must start `write`. The number of distinct methods
  // is bounded; messages beyond it are counted together.
  bool note(Action action, Side from, std::string_view method, const std::string& evidence = {},
            FoundInMessage found = {});
  // Writes until nothing is left. The first entry comes at once, later ones after growing pauses,
  // so that a peer that floods gets an entry a minute.
  Async<void> write();
  void hurry();  // the session ends: the rest is written without a pause

 private:
  struct Key {
    Action action;
    Side from;
    std::string method;
    auto operator<=>(const Key&) const = default;
  };
  struct Count {
    std::uint64_t messages = 0;
    std::uint64_t more_hits = 0;  // without an entry of their own
    std::set<std::string> evidence{};
  };
  using HitKey = std::tuple<std::string, std::string, std::string>;  // method, check, action

  void keep_evidence(Count& count, const std::string& evidence);
  std::uint64_t keep(const std::string& method, FoundInMessage found);

  core::RecordLog& records_;
  core::Escalations& escalations_;
  const core::Redactor& redactor_;
  Subject subject_;
  std::map<Key, Count> counts_;
  std::size_t evidence_bytes_ = 0;  // of all counts
  std::set<HitKey> hits_;
  std::vector<core::Draft> hit_rows_;
  std::vector<core::Escalation> escalated_;
  Bell bell_;
  bool writing_ = false;
  bool hurries_ = false;
};

}  // namespace sallyport::mcp
