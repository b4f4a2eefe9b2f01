// Remembers calls, so that a repetition does not run again. There is one row for each session and
// tool call id, kept as a fact: it names the entry that has the content, and holds none itself
// (AU-44..AU-51).
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "base/keyed_digest.h"
#include "core/record/instances.h"
#include "core/record/record_reader.h"
#include "sallyport/call.h"
#include "sallyport/idempotency_row.h"

namespace sallyport::core {

// Key: digest of session and tool call id. Value: the row, and the place of its entry.
inline constexpr std::string_view kRowSpace = "idempotency";

class Idempotency {
 public:
  Idempotency(RecordReader& records, Instances& instances, KeyedDigest digest)
      : records_(records), instances_(instances), digest_(std::move(digest)) {}

  enum class Status {
    InFlight,
    Completed,
    Unknown,  // cancelled, timed out, or its process died; never served again
  };
  struct Row {
    std::string call_id;
    std::string request_digest;
    Status status = Status::InFlight;
    std::string started_at;
    std::string stored{};        // the stored fact
    std::uint64_t sequence = 0;  // position of the intent or of the record
  };

  // Empty if the rules do not apply: the call has no session or no id of the model.
  std::string key(const Call& call) const;
  Result<std::optional<Row>> row(const std::string& key);

  // The fact of a row. It is committed with the entry that it names.
  static Fact fact(const std::string& key, const Row& row);
  static Fact no_row(const std::string& key);
  static Fact expected(const std::string& key, const std::optional<Row>& row);

  // True if the process that runs the call is still alive.
  Result<bool> running(const Row& row);

  // The one call that runs under a key holds this, in this process or in another. Null: another
  // call holds it.
  using Claim = std::shared_ptr<void>;
  Result<Claim> claim(const std::string& key);

  // The row as readers see it (AU-44).
  Result<std::optional<IdempotencyRow>> read(const std::string& session_id,
                                             const std::string& tool_call_id);

 private:
  RecordReader& records_;
  Instances& instances_;
  KeyedDigest digest_;
  // Shared with the holds, which may outlive an abandoned call.
  std::shared_ptr<Guarded<std::set<std::string>>> held_ =
      std::make_shared<Guarded<std::set<std::string>>>();
};

}  // namespace sallyport::core
