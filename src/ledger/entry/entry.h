// One record of the ledger: from a draft to canonical bytes, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "base/uuid.h"
#include "core/record/draft.h"
#include "core/record/redactor.h"
#include "ledger/entry/opening.h"

namespace sallyport::ledger {

inline constexpr std::string_view kEntrySchema = "sallyport.entry.v1";
inline constexpr std::size_t kMaxEntryBytes = 65535;  // a tile bundle counts in 16 bits

// What an index or a filter needs to know of an entry.
struct EntryView {
  std::uint64_t sequence = 0;
  std::string id;
  std::string kind;
  std::string recorded_at;
  std::string instance_id;
  std::string policy_hash;
  std::string call_id;
  std::string session_id;
  std::string agent_id;
  std::string server;
  std::string tool_name;
  std::string outcome;
  std::string trace_id;
  std::string run_id;
  std::string topic;
  std::uint64_t topic_id = 0;
};

// A draft after redaction and sealing: all its bytes but time, place and topic number, which only
// the write transaction knows.
class SealedDraft {
 public:
  struct Parts {
    const core::Redactor& redactor;
    const KeyedDigest& digest;
    Entropy& entropy;
    std::string_view instance_id;  // outlives the sealed draft
  };
  // The previous subject, as given and as entries show it. The drafts of one call share it.
  struct LastSubject {
    core::SharedSubject given{};
    core::SharedSubject shown{};
  };

  // `InvalidInput` names what breaks LE-1, LE-4 or LE-80. `last` is for the drafts of one group.
  static Result<SealedDraft> seal(core::Draft draft, const Uuid& id, const Parts& parts,
                                  LastSubject& last);

  // Canonical bytes, LE-1.
  std::string bytes(std::uint64_t sequence, WallTime recorded_at, std::uint64_t topic_id) const;

  const Uuid& id() const { return id_; }
  core::Kind kind() const { return kind_; }
  std::string_view instance_id() const { return instance_id_; }
  const core::SharedSubject& subject() const { return subject_; }  // without secrets
  const std::string& outcome() const { return outcome_; }
  const std::string& topic() const { return topic_; }
  // `link` gives a trust record its place in the chain and its bytes, and returns its hash.
  bool is_link() const { return link_.has_value(); }
  std::string link(std::uint64_t index, const std::optional<std::string>& previous_hash);
  const std::vector<core::Fact>& facts() const { return facts_; }
  const std::vector<std::shared_ptr<const core::FactChange>>& changes() const { return changes_; }
  std::size_t size() const;  // of the entry in bytes, nearly
  const std::string& packed_openings() const { return packed_openings_; }

 private:
  SealedDraft() = default;
  void begin(std::size_t body_bytes);
  void finish(const json::array& redactions);
  void render_link();

  Uuid id_{};
  core::Kind kind_{};
  std::string_view instance_id_;
  core::SharedSubject subject_;
  std::string outcome_;
  std::string topic_;
  // The bytes without the three values that are put in at these places. Without a topic, nothing is
  // put in at the last one.
  std::string text_;
  std::size_t time_at_ = 0;
  std::size_t sequence_at_ = 0;
  std::size_t topic_id_at_ = 0;
  std::string packed_openings_;
  struct Link {
    json::object body;
    json::array redactions;
  };
  std::optional<Link> link_;
  std::vector<core::Fact> facts_;
  std::vector<std::shared_ptr<const core::FactChange>> changes_;
};

// Reads the members of LE-1 without building the body. Only for bytes of our own store.
Result<EntryView> view_entry(std::string_view bytes);

// Checks everything that LE-1, LE-2, LE-4 and LE-14 demand of an entry from elsewhere: known
// members of the right types, a known kind, sealed content fields. `where` names the member.
Result<void> check_entry(const json::value& entry);

// Checks that members that repeat the body agree with it (the step `meaning`).
Result<void> check_meaning(const json::value& entry);

// The body with open values back in place; fields that are not open show as
// `{"$sealed":..,"state":"withheld"|"erased"|"sealed"}`.
// `Numbers::Exact`, for people: an input whose numbers a double cannot hold shows them as text.
json::value opened_body(const json::value& entry, const std::vector<Opening>& openings,
                        Numbers numbers = Numbers::Foreign);

}  // namespace sallyport::ledger
