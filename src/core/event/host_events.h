// Events that a program emits for its own model, memory and background tasks. Each start gets
// exactly one finish: a fact of the ledger holds what is open, in all processes (EV-15 to EV-29).
#pragma once

#include <string_view>
#include <vector>

#include "core/event/emitter.h"
#include "core/record/instances.h"

namespace sallyport::core {

// Facts that change in the transaction of an event.
struct BesideEvent {
  std::vector<Fact> facts{};
  std::vector<std::shared_ptr<const FactChange>> changes{};
};

class HostEvents {
 public:
  // All must outlive it.
  HostEvents(Emitter& emitter, RecordReader& records, const Instances& instances)
      : emitter_(emitter), records_(records), instances_(instances) {}

  // As `Engine::emit`. `Exhausted`: a change refuses.
  Task<void> emit(Event event, Subject subject, BesideEvent beside = {});

 private:
  Emitter& emitter_;
  RecordReader& records_;
  const Instances& instances_;
};

// Returns the finish of the start in this entry of kind `event`, whose process died (EV-51). Empty:
// the entry is not a start.
std::vector<Draft> finish_interrupted(const json::object& entry);

}  // namespace sallyport::core
