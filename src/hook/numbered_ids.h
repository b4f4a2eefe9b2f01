// Ids for calls of hosts that give none: calls that are alike are counted, in their session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/keyed_digest.h"
#include "core/call/idempotency.h"
#include "hook/event.h"

namespace sallyport::hook {

class NumberedIds {
 public:
  NumberedIds(core::Idempotency& rows, const KeyedDigest& digest) : rows_(rows), digest_(digest) {}

  // The first one has number 1.
  std::string id(const Event& event, std::uint64_t number) const;
  // One that no call has yet.
  Result<std::string> fresh(const Event& event);
  // Of calls that are in the host's hands, the last one first.
  Result<std::vector<std::string>> open(const Event& event);

  // The row of a call with this id, whichever side chose it. No value: there is none.
  Result<std::optional<core::Idempotency::Row>> row(const Event& event, const std::string& id);

 private:
  Result<std::uint64_t> last_number(const Event& event);

  core::Idempotency& rows_;
  const KeyedDigest& digest_;
};

}  // namespace sallyport::hook
