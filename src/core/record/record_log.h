// The one promise that the product needs from a log: what was appended is durable, or there is an
// error.
#pragma once

#include <vector>

#include "base/async.h"
#include "core/record/record_reader.h"

namespace sallyport::core {

// What an append may use when space runs out.
enum class Urgency {
  Announces,  // an effect waits for it; refused while anything is wrong
  Reports,    // reports an effect that has happened; may use the reserve
};

// Writes the log and reads it. A writer reads, because most appends depend on the facts that it read.
class RecordLog : public RecordReader {
 public:
  // Writes all drafts in one transaction, in this order. Returns once they are durable, or once
  // they are written if none of them waits for the disk. `expected` are facts that must be
  // unchanged at that moment; otherwise the error is `Conflict`. `Unavailable` with a cause of
  // LE-73: the caller must not act. `InvalidInput`: a draft breaks the rules of an entry.
  // `Exhausted`: a FactChange refuses. After any error nothing was written.
  virtual Task<std::vector<Position>> append(std::vector<Draft> drafts, Urgency urgency,
                                             std::vector<Fact> expected) = 0;
  Task<std::vector<Position>> append(std::vector<Draft> drafts, Urgency urgency) {
    return append(std::move(drafts), urgency, {});
  }

  // Keeps drafts that could not be written in time. They are written, in order, before anything
  // else, as soon as writing works again; until then `Announces` is refused. Beyond a bound, only
  // drafts that end a call or change a fact are kept, and the rest is counted.
  virtual void owe(std::vector<Draft> drafts) = 0;

  // Returns an error while no effect may be announced: a draft is owed, or the disk refuses.
  virtual Result<void> ready() const = 0;

  // Asked before a call begins. Returns an error while so much is owed that the record of the call
  // could not be kept either; such a call has no record. The number of such calls is recorded when
  // writing works again.
  virtual Result<void> accept_call() { return {}; }
};

}  // namespace sallyport::core
