// Stores the state of a waiting turn: durable, encrypted, and recognized when it is handed back
// (AU-69, AU-71, AU-87).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "core/plan/grant_use.h"
#include "core/record/record_reader.h"
#include "core/record/vault.h"
#include "sallyport/call.h"
#include "sallyport/continuation.h"

namespace sallyport::core {

// The record of the entry that keeps a continuation.
inline constexpr std::string_view kTurnWaits = "turn_waits";

// A continuation and its private part.
struct Kept {
  Continuation continuation;
  std::vector<Call> calls;  // exact, with their call ids
  std::string approval_id;  // what a paused turn waits for; empty for a hand-off
  std::string deadline;     // of a hand-off, RFC 3339; else empty
  // By call id: the grants against which the results of a hand-off are checked.
  std::map<std::string, std::shared_ptr<const GrantUse>> grants{};
};

class Continuations {
 public:
  Continuations(RecordReader& records, Vault& vault, KeyedDigest digest, const Clock& clock,
                Entropy& entropy)
      : records_(records),
        vault_(vault),
        digest_(std::move(digest)),
        clock_(clock),
        entropy_(entropy) {}

  // Gives the payload an id and a digest.
  Continuation make(Continuation::Payload payload, std::string id) const;
  std::string fresh_id() const;

  // The entry and the facts that keep it; for a commit of the caller.
  Draft keep(const Kept& kept, const SharedSubject& subject);

  enum class State {
    Open,
    Taken,     // a process resumes it
    Answered,  // its results are on record, and may be submitted again
    Closed,
    Expired,
  };
  struct Found {
    Kept kept;
    State state = State::Open;
    std::string taken_by{};  // the process run that has it; empty unless it is `Taken`
    std::string stored{};    // the fact as it is

    bool over() const { return state == State::Closed || state == State::Expired; }
  };
  // The first four checks of AU-71, with their words as cause: version (by the reader), unknown,
  // altered, session.
  Result<Found> find(const Continuation& given, const std::string& session_id);
  Result<std::optional<Found>> load(const std::string& id);

  static Fact expected(const std::string& id, const std::string& stored);
  // The continuation is over, and its content is erased.
  static std::vector<Fact> closed(const std::string& id);
  static std::vector<Fact> expired(const std::string& id);
  static std::vector<Fact> taken(const std::string& id, const std::string& instance_id);
  // The results are recorded. The calls stay known, without their inputs.
  std::vector<Fact> answered(Kept kept);

 private:
  std::string digest_of(const Continuation::Payload& payload) const;

  RecordReader& records_;
  Vault& vault_;
  KeyedDigest digest_;
  const Clock& clock_;
  Entropy& entropy_;
};

}  // namespace sallyport::core
