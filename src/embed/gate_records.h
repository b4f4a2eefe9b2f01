// Puts on record what the guardrails find in streams of a program (GR-72 to GR-74).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "embed/run_task.h"
#include "embed/visitors.h"
#include "guardrails/stream/gate.h"
#include "guards/guardrail_records.h"
#include "ledger/ledger.h"
#include "sallyport/guardrail_gate.h"

namespace sallyport::embed {

GuardrailHit hit_of(const guardrails::Hit& hit);

// The records of one stream. Owned by its gate; used by one thread at a time.
class GateRecords {
 public:
  struct About {
    guardrails::Stage stage = guardrails::Stage::Output;
    std::string tool{};     // empty: none
    std::string channel{};  // of a message; empty: a stream of its own
  };
  // Of the engine, which must outlive this.
  struct Parts {
    Visitors& visitors;
    boost::asio::io_context& loop;
    ledger::Ledger& ledger;
    std::shared_ptr<const guardrails::Guardrails> guardrails;
    guards::Excerpts excerpts;
  };
  GateRecords(Parts parts, About about, Subject subject)
      : parts_(std::move(parts)), about_(std::move(about)), subject_(std::move(subject)) {}

  // What a reader may see of it. Blocks and redactions are durable before this returns; a log hit
  // waits for nothing. An error: nothing may go out, now or later.
  Result<GateOutput> take(const guardrails::Passed& passed);
  // Hits of whole arguments, and what was decided.
  Result<std::vector<GuardrailHit>> take(const guardrails::Evaluation& seen);
  // At the end of the stream: which checks have looked. Once.
  Result<void> finish(std::uint64_t bytes_in, const std::vector<guardrails::Coverage>& coverage);

 private:
  json::value channel() const;
  // The first region of each check that redacted; later ones are counted.
  std::optional<guardrails::Hit> first_redaction(const guardrails::Piece& piece);
  core::Draft row_of(const guardrails::Hit& hit) const;
  Result<void> write(std::vector<core::Draft> rows, core::Urgency urgency);

  Parts parts_;
  About about_;
  Subject subject_;
  std::set<std::size_t> redacting_;  // checks whose first region is on record
  std::uint64_t released_ = 0;
  std::uint64_t redactions_ = 0;
  bool blocked_ = false;
  bool shut_ = false;  // a record could not be written
  bool finished_ = false;
};

}  // namespace sallyport::embed
