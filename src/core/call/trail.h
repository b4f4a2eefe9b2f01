// Everything that is known about one call while it runs: its decision, and its progress since. The
// coroutine that runs the call owns it and uses it on the executor of the call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/call/idempotency.h"
#include "core/decision/decision.h"

namespace sallyport::core {

class Trail : public Decision {
 public:
  using Decision::Decision;

  // Marks that the call waits here for a person. The terminal record removes that fact.
  void hold_here();

  bool observed = false;              // its host has run it (AP-33)
  bool decides_again = false;         // other calls used up the budget
  unsigned lost_places = 0;           // how often that happened
  std::string started_at;             // time of the intent; empty: there is none
  bool announced = false;             // the start of the execution was reported
  bool intent_durable = false;        // the intent is on disk by itself, before the effect
  bool dropped = false;               // the preparation was cancelled at the tool
  bool preparation_recalled = false;  // the preparation is the one of an earlier attempt
  bool opened = false;                // a fact says that this process runs the call
  bool held = false;                  // a fact says that it waits here for a person
  bool may_be_asked = false;          // a question may be on record, with what it reserves
  Position asked_at;                  // of the last question
  std::string handed_out_until;       // RFC 3339; empty: executed here
  std::string continuation_id;        // of the hand-off
  std::function<Draft(const Trail&)> with_intent;  // one more entry in the commit of the intent
  std::vector<Fact> closing_facts;                 // committed with the terminal record
  std::vector<Fact> closing_expected;              // must be unchanged in that commit
  json::array repeated_redactions;                 // of the record whose result is returned again

  // The idempotency row of the call, as found and held.
  std::string row_key;
  std::optional<Idempotency::Row> row;
  Idempotency::Claim claim;
};

}  // namespace sallyport::core
