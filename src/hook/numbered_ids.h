// Ids for calls of hosts that give none. Identical calls of a session are numbered.
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
  // An id that no call has yet.
  Result<std::string> fresh(const Event& event);
  // Ids of calls that are handed out, the newest first.
  Result<std::vector<std::string>> open(const Event& event);

  // The row of a call with this id, from the host or from us. No value: there is none.
  Result<std::optional<core::Idempotency::Row>> row(const Event& event, const std::string& id);

 private:
  Result<std::uint64_t> last_number(const Event& event);

  core::Idempotency& rows_;
  const KeyedDigest& digest_;
};

}  // namespace sallyport::hook
