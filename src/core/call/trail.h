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

  // A fact says that it waits here for a person; the terminal record removes the fact.
  void hold_here();

  bool observed = false;         // its host has run it (AP-33)
  bool weighs_again = false;     // others took the last place of the budget
  unsigned lost_places = 0;      // how often they did
  std::string started_at;        // when the intent was made; empty: none was
  bool announced = false;        // the start of the execution was told
  bool intent_durable = false;   // the intent is on disk by itself, before the effect
  bool dropped = false;          // the preparation was called off at the tool
  bool recalled = false;         // the preparation is the one of an earlier attempt
  bool opened = false;           // a fact says that this process has the call in hand
  bool held = false;             // a fact says that it waits here for a person
  Position asked_at;             // of the last question
  std::string handed_out_until;  // RFC 3339; empty: executed here
  std::string continuation_id;   // of the hand-off
  std::function<Draft(const Trail&)> with_intent;  // one entry more in the commit of the intent
  std::vector<Fact> closing_facts;                 // travel with the terminal record
  std::vector<Fact> closing_expected;              // must still be so then
  json::array repeated_redactions;                 // of the record whose result is served again

  // The idempotency row of the call, as found and held.
  std::string row_key;
  std::optional<Idempotency::Row> row;
  Idempotency::Claim claim;
};

}  // namespace sallyport::core
