// All that a Governor needs of a ledger. Its parts name only the interface that they use.
#pragma once

#include <cstdint>
#include <vector>

#include "core/record/instances.h"
#include "core/record/record_log.h"
#include "core/record/vault.h"

namespace sallyport::core {

// Records that were written after their caller had left.
class LateRecords {
 public:
  virtual ~LateRecords() = default;

  // Returns late tool-audit records, which were written after their caller had left: owed records,
  // and records that closed calls of dead processes. Each is returned once.
  virtual std::vector<std::uint64_t> take_late_records() { return {}; }
};

class Recorder : public RecordLog, public Instances, public Vault, public LateRecords {};

}  // namespace sallyport::core
