// The facts that one decision reads, all of one moment: `as_of` entries were in the ledger then.
//
//   DecisionFacts facts(recorder);
//   facts.fact("workspace", key);   // read once; later reads give the same value
//   facts.as_of();                  // the record says it, so that the decision can be made again
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/record/record_reader.h"

namespace sallyport::core {

// Owned by one decision, on its thread. If entries were added since the first read, a later fact is
// read together with the earlier ones. If one of these has changed, the value that was read first
// stays and `torn()` is true: the decision must be made again.
class DecisionFacts final : public RecordReader {
 public:
  explicit DecisionFacts(RecordReader& records) : records_(records) {}

  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override;
  Result<std::vector<Fact>> facts(std::string_view space) override { return records_.facts(space); }
  Result<json::object> entry(std::uint64_t sequence) override { return records_.entry(sequence); }

  // The size of the ledger when the facts were read. If none was read, the size that this process
  // saw last.
  std::uint64_t as_of();
  bool torn() const { return torn_; }
  // Reads all facts that were asked for so far again, at the current moment.
  Result<void> read_again();

 private:
  std::vector<FactKey> keys() const;

  RecordReader& records_;
  std::map<FactKey, std::optional<std::string>> known_;
  std::optional<std::uint64_t> size_;
  bool torn_ = false;
};

}  // namespace sallyport::core
