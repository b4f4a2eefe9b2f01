// Outputs that are too long for a record.
#pragma once

#include <optional>

#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "core/record/draft.h"
#include "core/record/redactor.h"
#include "sallyport/outcome.h"

namespace sallyport::core {

struct Artifacts {
  const Redactor& redactor;
  Entropy& entropy;
  const KeyedDigest& digest;

  // An output over 50 KiB or 2,000 lines goes into an entry of its own, whole; `result` keeps its
  // beginning and names the rest (AU-20). What was redacted for that is added to `redactions` of
  // the record. No value: it fits into the record.
  std::optional<Draft> move_out(ToolResult& result, const SharedSubject& subject,
                                json::array& redactions) const;
};

}  // namespace sallyport::core
