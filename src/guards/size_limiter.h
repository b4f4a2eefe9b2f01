// The result guard `size-limiter`: keeps results short enough for their readers (PI-69 to PI-71).
//
//   {"max_string_bytes": 65536, "max_items": 10000, "max_total_bytes": 262144, "over": "replace"}
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>

#include "core/plan/guard.h"
#include "sallyport/json.h"

namespace sallyport::guards {

struct SizeLimits {
  std::uint64_t max_string_bytes = 65'536;
  std::uint64_t max_items = 10'000;
  std::uint64_t max_total_bytes = 262'144;  // of canonical JSON, after the other two
  bool over_blocks = false;                 // `over: block`; else the content becomes one string

  json::value to_json() const;
};

// `InvalidInput` names the field.
Result<SizeLimits> size_limits_from_json(const json::value& json);

// Immutable: any thread may call `judge` at any time.
class SizeLimiter final : public core::ResultGuard {
 public:
  explicit SizeLimiter(const SizeLimits& limits);

  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override;

 private:
  Verdict limit(const Envelope& result) const;

  SizeLimits limits_;
  core::GuardTraits traits_;
};

}  // namespace sallyport::guards
