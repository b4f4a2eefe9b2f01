// Runs the output sanitizer over a value, with readable results for tests.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "guards/redact/output_sanitizer.h"

namespace sallyport::guards {

inline std::shared_ptr<const OutputSanitizer> sanitizer(std::string_view settings) {
  static const SystemClock clock;
  const auto read = sanitizer_settings_from_json(json::parse(settings));
  EXPECT_TRUE(read.has_value()) << read.error().message;
  auto guard = OutputSanitizer::build(*read, std::string(32, '\0'), clock);
  EXPECT_TRUE(guard.has_value()) << guard.error().message;
  return *guard;
}

inline constexpr std::string_view kEverything =
    R"({"categories":{"secret":true,"pii":true,"internal":true}})";

// Compiling the patterns takes a tenth of a second, so one serves most tests.
inline const OutputSanitizer& everything() {
  static const auto shared = sanitizer(kEverything);
  return *shared;
}

struct Sanitized {
  std::string text;  // of the released value; `blocked: <reason>` after a block
  std::string evidence;
};

inline Envelope released(const Envelope& envelope, const Verdict& verdict) {
  if (verdict.kind != Verdict::Kind::Rewrite) return envelope;
  auto read = Envelope::from_json(verdict.value);
  EXPECT_TRUE(read.has_value());
  return *read;
}

inline Sanitized sanitize(const OutputSanitizer& guard, const Envelope& envelope) {
  const Verdict verdict = guard.sanitize(envelope);
  const std::string evidence =
      verdict.evidence.is_string() ? std::string(verdict.evidence.get_string()) : "";
  if (verdict.kind == Verdict::Kind::Deny) return {"blocked: " + verdict.reason, evidence};
  const Envelope out = released(envelope, verdict);
  const json::value json = out.to_json();
  return {json::serialize(out.kind == Envelope::Kind::Value ? json.at("value") : json), evidence};
}

inline Sanitized sanitize(std::string_view input, const OutputSanitizer& guard = everything()) {
  return sanitize(guard, Envelope::of(parse_json(input).value().value));
}

inline Sanitized sanitize(std::string_view input, std::string_view settings) {
  return sanitize(input, *sanitizer(settings));
}

}  // namespace sallyport::guards
