// The hook `output-sanitizer`: removes secrets and personal data from results (PI-51 to PI-68).
//
//   auto settings = sanitizer_settings_from_json(policy_entry);
//   auto guard = OutputSanitizer::build(*settings, data_folder_key, clock);
//   // {"k":"AKIAIOSFODNN7EXAMPLE"} becomes {"k":"****"}, evidence `aws_access_key_id=1`
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "core/plan/guard.h"
#include "guards/redact/text_cleaner.h"

namespace sallyport::guards {

// Immutable once built: any thread may call `judge` at any time.
class OutputSanitizer final : public core::ResultGuard {
 public:
  // `fingerprint_key` is the random key of the data folder; it is not part of the traits. `clock`
  // must outlive the guard. `InvalidInput`: a pattern of the settings cannot be used.
  static Result<std::shared_ptr<const OutputSanitizer>> build(
      SanitizerSettings settings, std::string fingerprint_key, const Clock& clock,
      const guardrails::PatternStore* store = nullptr);

  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override;

  // The same without a coroutine, for benchmarks and for values that are not results of calls.
  Verdict sanitize(const Envelope& result) const;

 private:
  OutputSanitizer(std::unique_ptr<const TextCleaner> cleaner, const Clock& clock);

  std::unique_ptr<const TextCleaner> cleaner_;
  const Clock& clock_;
  core::GuardTraits traits_;
};

}  // namespace sallyport::guards
