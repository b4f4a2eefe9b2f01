// The one place where a guard's failure becomes a verdict.
#pragma once

#include <optional>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "core/guard.h"

namespace sallyport::core {

struct Judged {
  Verdict verdict{};
  std::optional<std::string> failure{};  // `exception`, `timeout`, `error` or `malformed`
  std::string detail{};                  // for the log alone: never for the agent
  std::uint64_t duration_us = 0;
};

Async<Judged> judge(std::shared_ptr<const Guard> guard, const Call& call,
                    const Classification& classification, const Clock& clock);
Async<Judged> judge(std::shared_ptr<const ResultGuard> guard, const Envelope& envelope,
                    const ResultContext& context, const Clock& clock);

}  // namespace sallyport::core
