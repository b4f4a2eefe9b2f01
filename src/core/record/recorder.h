// What the product records, and the one promise that it needs from a log.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "sallyport/json.h"
#include "sallyport/subject.h"

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
  ModelAudit,
};

std::string_view to_string(Kind kind);
std::optional<Kind> kind_from(std::string_view text);

// Content whose stored form is not the JSON value in the body.
struct ExactContent {
  std::string path;                   // JSON Pointer into the body
  std::string bytes;                  // what the commitment covers
  bool raw = false;                   // bytes as received (LE-10), else canonical JSON
  bool withheld = false;              // commit to them, keep the salt, never store them
  bool withheld_if_redacted = false;  // the same, but only where storing would have to change them
  bool unredacted = false;            // stored as they are: the text of a policy (WB-7)
};

// A small fact that must never disagree with the log: changed in the same transaction as the entry.
// Holds references and states, never content.
struct Fact {
  std::string space;
  std::string key;
  std::optional<std::string> value;  // nothing: the fact is removed
  bool with_place = false;           // `@` and the sequence of its entry are put behind the value
  bool counts = false;               // the value is the stored number and one more

  bool operator==(const Fact&) const = default;
};

// A change of facts that depends on what is stored at that very moment: asked inside the
// transaction, so that no number of callers can make a counter lose one.
class FactChange {
 public:
  using Stored = std::function<Result<std::optional<std::string>>(std::string_view space,
                                                                  std::string_view key)>;
  virtual ~FactChange() = default;
  // The facts as they shall be. `Exhausted` refuses the append as a whole, and nothing of it is
  // written; every other error is the store's. May be asked more than once.
  virtual Result<std::vector<Fact>> facts(const Stored& stored) const = 0;
};

// A fact that was stored with the place of its entry, taken apart.
struct Placed {
  std::string value;
  std::uint64_t sequence = 0;
};
std::optional<Placed> split_place(std::string_view stored);

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
  // Those of one append change different facts.
  std::vector<std::shared_ptr<const FactChange>> changes{};
  json::array redactions{};       // of an earlier entry, whose redacted content this one repeats
  std::optional<std::string> id;  // only when an earlier try may have been written (LE-5)
  // False: outlives this process, and the machine only some moments later (`durability: relaxed`).
  // An append waits for the disk if one of its drafts does.
  bool waits_for_disk = true;
  // `id` was made for this draft, so no earlier try can have been written.
  bool fresh_id = false;
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

// Names a fact.
struct FactKey {
  std::string space;
  std::string key;

  auto operator<=>(const FactKey&) const = default;
};

// Committed state, as of now.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // The number of entries and the values of facts, all of one moment, in the order of `keys`.
  struct Moment {
    std::uint64_t size = 0;
    std::vector<std::optional<std::string>> values{};
  };
  // A reader without snapshots reads one fact after the other and says 0 for the size.
  virtual Result<Moment> moment(const std::vector<FactKey>& keys);
  virtual Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) = 0;
  virtual Result<std::vector<Fact>> facts(std::string_view space) = 0;
  // The entry with its body opened, as readers see it: what was redacted or erased stays so.
  virtual Result<json::object> entry(std::uint64_t sequence) = 0;
};

class Recorder : public RecordReader {
 public:
  // All drafts in one transaction, in this order; returns once they are durable, or written where
  // none of them waits for the disk.
  // `expected`: facts as they must still be at that moment, else `Conflict` and nothing is written.
  // `Unavailable` with a cause of LE-73: nothing was written, so the caller must not act.
  // `InvalidInput`: a draft breaks the rules of an entry; nothing was written.
  // `Exhausted`: a FactChange refuses; nothing was written.
  virtual Task<std::vector<Position>> append(std::vector<Draft> drafts, Urgency urgency,
                                             std::vector<Fact> expected) = 0;
  Task<std::vector<Position>> append(std::vector<Draft> drafts, Urgency urgency) {
    return append(std::move(drafts), urgency, {});
  }

  // Drafts that could not be written when they should have been. They are written, in order, before
  // anything else, as soon as writing works again; until then `Announces` is refused. Beyond a
  // bound only what ends a call or changes a fact is kept, and the rest is counted.
  virtual void owe(std::vector<Draft> drafts) = 0;

  // An error while an effect may not be announced: something is owed, or the disk refuses.
  virtual Result<void> ready() const = 0;

  // Asked before a call becomes one. An error while so much is owed that its record could not be
  // kept either: then it has none. How many were turned away is recorded when writing works again.
  virtual Result<void> accept_call() { return {}; }

  // Names this process run in facts that must be closed when it dies.
  virtual const std::string& instance_id() const = 0;
  virtual bool alive(const std::string& instance_id) const = 0;

  // Held by one process at a time until it lets go or ends, whether or not it writes meanwhile.
  // Null: another process has it. Inside one process it is not exclusive.
  using Claim = std::shared_ptr<void>;
  virtual Result<Claim> claim(std::string_view key);

  // Returns late tool-audit records, which were written after their caller had left: owed records,
  // and records that closed calls of dead processes. Each is returned once.
  virtual std::vector<std::uint64_t> take_unheard() { return {}; }

  // For what a waiting call needs and no file may hold in the clear (AU-87).
  virtual std::string encrypt(std::string_view text) = 0;
  virtual Result<std::string> decrypt(std::string_view sealed) const = 0;
};

}  // namespace sallyport::core
