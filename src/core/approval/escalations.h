// The queue of things that a person should look at, filled by guards that escalate (PI-80..PI-84).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/guarded.h"
#include "core/plan/pipeline.h"
#include "core/record/record_log.h"
#include "sallyport/escalation.h"

namespace sallyport::core {

// Key: escalation. Value: the place of the entry that opened it.
inline constexpr std::string_view kEscalationSpace = "escalation";

// Returns the open escalations, oldest first.
Result<std::vector<EscalationItem>> waiting_escalations(RecordReader& records);

// No value: no such item is open.
Result<std::optional<EscalationItem>> waiting_escalation(RecordReader& records,
                                                         const std::string& id);

class Escalations {
 public:
  Escalations(RecordLog& records, const Clock& clock, Entropy& entropy)
      : records_(records), clock_(clock), entropy_(entropy) {}

  // Items for the messages, new or shared with an earlier one; written with the record that names
  // them.
  struct Opened {
    std::vector<std::string> ids;
    std::vector<Draft> drafts;
    std::vector<Fact> counts;  // committed with the record
  };
  // `beside`: drafts of the same commit, which may open the same items.
  Opened open(const std::vector<Escalation>& messages, const SharedSubject& subject,
              const std::vector<Draft>& beside = {});

  Result<std::vector<EscalationItem>> waiting() { return waiting_escalations(records_); }
  // Removes an item from the queue. `Conflict`: it was already settled.
  Task<void> settle(std::string id, bool accepted, std::string by, std::string note);

 private:
  struct Recent {
    std::string id;
    SteadyTime first;
    std::string call_id;  // the call that commits the item
  };
  Result<bool> waits(const std::string& id);
  RecordLog& records_;
  const Clock& clock_;
  Entropy& entropy_;
  Guarded<std::map<std::string, Recent>> recent_;  // by guard, session and message
};

}  // namespace sallyport::core
