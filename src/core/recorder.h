// What the product writes down, and the one promise it needs from whoever keeps it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "sallyport/json.h"

namespace sallyport::core {

enum class Kind {
  Event,
  Intent,
  ToolAudit,
  GuardHit,
  Approval,
  Trust,
  Grant,
  Topic,
  HookFailed,
  Control,
};

std::string_view to_string(Kind kind);
std::optional<Kind> kind_from(std::string_view text);

// The members of an entry that say whom it concerns; empty means "does not apply".
struct Subject {
  std::string policy_hash;
  std::string call_id;
  std::string session_id;
  std::string agent_id;
  std::string server;
  std::string tool_name;
  std::string trace_id;

  bool operator==(const Subject&) const = default;
};

// Content whose stored form is not the JSON value in the body.
struct ExactContent {
  std::string path;                   // JSON Pointer into the body
  std::string bytes;                  // what the commitment covers
  bool raw = false;                   // bytes as received (LE-10), else canonical JSON
  bool withheld = false;              // commit to them, keep the salt, never store them
  bool withheld_if_redacted = false;  // the same, but only where storing would have to change them
};

// A small fact that must never disagree with the log: changed in the same transaction as the entry.
// Holds references and states, never content.
struct Fact {
  std::string space;
  std::string key;
  std::optional<std::string> value;  // nothing: the fact is removed

  bool operator==(const Fact&) const = default;
};

// One entry before it has a place. Content is put into `body` as it is: what holds content is known
// by its name, and is redacted and sealed by the ledger.
struct Draft {
  Kind kind = Kind::Event;
  Subject subject;
  std::string outcome;
  std::string topic;
  json::object body;
  std::vector<ExactContent> exact;
  std::vector<Fact> facts;
  std::optional<std::string> id;  // only when an earlier try may have been written (LE-5)
};

struct Position {
  std::uint64_t sequence = 0;
  std::string id;

  bool operator==(const Position&) const = default;
};

// How much a batch matters when space runs out.
enum class Urgency {
  Announces,  // an effect waits for it: refused while anything is wrong
  Reports,    // an effect has happened: may use the reserve
};

class Recorder {
 public:
  virtual ~Recorder() = default;

  // All drafts in one transaction, in this order; returns once they are durable.
  // `Unavailable` with a cause of LE-73: nothing was written, so the caller must not act.
  // `InvalidInput`: a draft breaks the rules of an entry; nothing was written.
  virtual Task<std::vector<Position>> append(std::vector<Draft> drafts, Urgency urgency) = 0;

  // Names this process run in facts that must be closed when it dies.
  virtual const std::string& instance_id() const = 0;

  // Drafts that could not be written when they should have been. They are written, in order, before
  // anything else, as soon as writing works again; until then `Announces` is refused.
  virtual void owe(std::vector<Draft> drafts) = 0;
};

}  // namespace sallyport::core
