// How many approval requests of one agent may wait at the same time. The count is a fact that
// changes in the transaction of the request, so that no number of parallel calls gets past it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/record/draft.h"

namespace sallyport::core::open_questions {

inline constexpr std::string_view kTooMany = "too_many_open_approvals";

struct OpenQuestion {
  std::string agent_id;
  std::string approval_id;
  std::uint64_t most = 0;
};
// Committed with the request. `Exhausted` with the cause `kTooMany`: the agent has `most` open
// requests. Decided and expired requests do not count.
std::shared_ptr<const FactChange> add(OpenQuestion question, WallTime now);

}  // namespace sallyport::core::open_questions
