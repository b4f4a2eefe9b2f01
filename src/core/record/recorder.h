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

// Content whose stored form differs from the JSON value in the body.
struct ExactContent {
  std::string path;   // JSON Pointer into the body
  std::string bytes;  // the bytes that the commitment covers
  bool raw = false;   // true: received bytes (LE-10); false: canonical JSON
  // commit to the bytes and keep the salt, but never store the bytes
  bool withheld = false;
  bool withheld_if_redacted = false;  // as above, but only if redaction would change the bytes
  bool unredacted = false;            // stored unchanged: the text of a policy (WB-7)
};

// A small state that must never disagree with the log. It changes in the transaction of an entry.
// It holds references and states, never content.
struct Fact {
  std::string space;
  std::string key;
  std::optional<std::string> value;  // no value: removes the fact
  bool with_place = false;           // `@` and the sequence of the entry are appended to the value
  bool counts = false;               // the value becomes the stored number plus one

  bool operator==(const Fact&) const = default;
};

// A change of facts that depends on what is stored at that moment. It runs inside the transaction,
// so that concurrent callers lose no count.
class FactChange {
 public:
  using Stored = std::function<Result<std::optional<std::string>>(std::string_view space,
                                                                  std::string_view key)>;
  virtual ~FactChange() = default;
  // Returns the new facts. `Exhausted` refuses the whole append, and nothing is written; every
  // other error is the store's. May be called more than once.
  virtual Result<std::vector<Fact>> facts(const Stored& stored) const = 0;
};

// A fact that was stored with the place of its entry, split into its parts.
struct Placed {
  std::string value;
  std::uint64_t sequence = 0;
};
std::optional<Placed> split_place(std::string_view stored);

// An entry before it has a place in the log. Put content into `body` unchanged: the ledger knows
// content by its member name, redacts it and seals it.
struct Draft {
  Kind kind = Kind::Event;
  Subject subject;
  std::string outcome;
  std::string topic;
  json::object body;
  std::vector<ExactContent> exact;
  std::vector<Fact> facts;
  // The changes of one append must change different facts.
  std::vector<std::shared_ptr<const FactChange>> changes{};
  json::array redactions{};       // of an earlier entry that had the same redacted content
  std::optional<std::string> id;  // set only if an earlier attempt may have been written (LE-5)
  // False: the entry survives the end of this process at once, and a power loss only a moment later
  // (`durability: relaxed`). An append waits for the disk if one of its drafts does.
  bool waits_for_disk = true;
  // True: `id` was made for this draft, so no earlier attempt was written.
  bool fresh_id = false;
};

struct Position {
  std::uint64_t sequence = 0;
  std::string id;

  bool operator==(const Position&) const = default;
};

// What an append may use when space runs out.
enum class Urgency {
  Announces,  // an effect waits for it; refused while anything is wrong
  Reports,    // reports an effect that has happened; may use the reserve
};

// The name of a fact.
struct FactKey {
  std::string space;
  std::string key;

  auto operator<=>(const FactKey&) const = default;
};

// Reads committed state.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // The number of entries and the values of facts at one moment, in the order of `keys`.
  struct Moment {
    std::uint64_t size = 0;
    std::vector<std::optional<std::string>> values{};
  };
  // A reader without snapshots reads one fact after the other and returns 0 as size.
  virtual Result<Moment> moment(const std::vector<FactKey>& keys);
  virtual Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) = 0;
  virtual Result<std::vector<Fact>> facts(std::string_view space) = 0;
  // Returns the entry with its body opened. Redacted and erased content stays hidden.
  virtual Result<json::object> entry(std::uint64_t sequence) = 0;
};

class Recorder : public RecordReader {
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

  // Names this process run in facts that must be closed when the process dies.
  virtual const std::string& instance_id() const = 0;
  virtual bool alive(const std::string& instance_id) const = 0;

  // One process holds a claim until it releases the claim or ends, whether or not it writes
  // meanwhile. Null: another process holds it. It is not exclusive inside one process.
  using Claim = std::shared_ptr<void>;
  virtual Result<Claim> claim(std::string_view key);

  // Returns late tool-audit records, which were written after their caller had left: owed records,
  // and records that closed calls of dead processes. Each is returned once.
  virtual std::vector<std::uint64_t> take_unheard() { return {}; }

  // Encrypts what a waiting call needs and no file may hold in clear text (AU-87).
  virtual std::string encrypt(std::string_view text) = 0;
  virtual Result<std::string> decrypt(std::string_view sealed) const = 0;
};

}  // namespace sallyport::core
