// Records what the guardrails find in the streams of a program (GR-72 to GR-74).
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

// The records of one stream. Its gate owns it and uses it on one thread at a time.
class GateRecords {
 public:
  struct About {
    guardrails::Stage stage = guardrails::Stage::Output;
    std::string tool{};     // empty: none
    std::string channel{};  // of a message; empty: a stream of its own
  };
  // Parts of the engine. The engine must outlive this object.
  struct Parts {
    Visitors& visitors;
    boost::asio::io_context& loop;
    ledger::Ledger& ledger;
    std::shared_ptr<const guardrails::Guardrails> guardrails;
    guards::Excerpts excerpts;
  };
  GateRecords(Parts parts, About about, Subject subject)
      : parts_(std::move(parts)), about_(std::move(about)), subject_(std::move(subject)) {}

  // Returns the text that may be released. Blocks and redactions are durable before this returns;
  // log hits are not waited for. After an error nothing may be released.
  Result<GateOutput> take(const guardrails::Passed& passed);
  // Records the hits and the decision about complete arguments.
  Result<std::vector<GuardrailHit>> take(const guardrails::Evaluation& seen);
  // Records at the end of the stream which checks read the text. Call it once.
  Result<void> finish(std::uint64_t bytes_in, const std::vector<guardrails::Coverage>& coverage);

 private:
  json::value channel() const;
  // Returns the hit for the first redaction of each check. Later ones are only counted.
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
