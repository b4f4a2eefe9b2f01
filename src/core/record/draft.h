// Entries before they have a place in the log, and the facts that change with them.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record/body.h"
#include "core/record/shared_subject.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

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
// The words of all kinds, in the order of the enumeration.
std::span<const std::string_view> kind_words();
std::optional<Kind> kind_from(std::string_view text);

// Content whose stored form differs from the JSON value in the body.
struct ExactContent {
  std::string path;  // JSON Pointer into the body
  // the bytes that the commitment covers; no value: the text of the body there
  std::optional<std::string> bytes{};
  bool raw = false;  // true: received bytes (LE-10); false: canonical JSON
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

// Stores each of these facts, unless there is one under its key.
std::shared_ptr<const FactChange> unless_stored(std::vector<Fact> facts);

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
  SharedSubject subject;
  std::string outcome;
  std::string topic;
  Body body;
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

// Adds entries to those of the same commit.
inline void append(std::vector<Draft>& drafts, std::vector<Draft> more) {
  drafts.insert(drafts.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

struct Position {
  std::uint64_t sequence = 0;
  std::string id;

  bool operator==(const Position&) const = default;
};

// The name of a fact.
struct FactKey {
  std::string space;
  std::string key;

  auto operator<=>(const FactKey&) const = default;
};

}  // namespace sallyport::core
