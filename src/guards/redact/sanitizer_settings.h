// The settings of the hook `output-sanitizer` in a policy:
//
//   {"categories": {"secret": true, "pii": true},       // absent: `secret` alone
//    "detectors": {"high_entropy": true, "iban": false},
//    "strategies": {"pii": "type_label", "email": "fingerprint", "custom:ticket": "drop"},
//    "allow": [{"text": "noreply@example.com"}, {"pattern": "[a-z]+@example\\.org"}],
//    "deny": [{"name": "ticket", "pattern": "ACME-[0-9]{6}"}],
//    "max_string_bytes": 1000000, "max_total_bytes": 16777216}
#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guards/detect/detector_table.h"
#include "guards/redact/redaction_strategy.h"
#include "guards/wording.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::guards {

// A detector that the policy defines, `custom:<name>`. It matches anywhere, not only at word edges.
struct DenyEntry {
  std::string name;
  Wording wording;
  Strategy strategy = Strategy::Mask;
};

struct SanitizerSettings {
  SanitizerSettings();

  DetectorSet detectors;
  std::array<Strategy, kDetectorCount> strategies{};
  std::vector<Wording> allow{};
  std::vector<DenyEntry> deny{};
  // The text that `mask` writes instead of `****`, for rules that judge results (RU-62).
  std::optional<std::string> replacement{};
  std::uint64_t max_string_bytes = 1'000'000;
  std::uint64_t max_total_bytes = std::uint64_t{16} << 20;

  // Deny entries have numbers after the table, so that hits of both have one type.
  std::string name_of(Detector detector) const;
  Strategy strategy_of(Detector detector) const;

  json::value to_json() const;
};

inline constexpr std::size_t kMostDenyEntries = 128;

constexpr Detector custom_detector(std::size_t index) {
  static_assert(kDetectorCount + kMostDenyEntries <= 256);
  return static_cast<Detector>(kDetectorCount + index);
}

// `InvalidInput` with the field in `where`: unknown names or strategies, invalid patterns, and
// entries that contradict themselves or one another (PI-68).
Result<SanitizerSettings> sanitizer_settings_from_json(const json::value& json);

}  // namespace sallyport::guards
