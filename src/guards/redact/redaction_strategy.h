// The replacement of a match (PI-55 to PI-61).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guards/detect/detector_table.h"

namespace sallyport::guards {

enum class Strategy : std::uint8_t { Mask, Fingerprint, Drop, Partial, TypeLabel, Keep };

std::string_view to_string(Strategy strategy);  // `type_label`, as policies say it
std::optional<Strategy> strategy_named(std::string_view name);
Strategy default_strategy(Category category);

inline constexpr std::string_view kMask = "****";

std::string fingerprint_mark(std::string_view key, std::string_view matched);  // `[FP:<16 hex>]`
std::string label_mark(std::string_view detector);                             // `[REDACTED:email]`

// Keeps the part of a match that may stay readable; `****` for detectors that leave nothing.
std::string partial_mark(Detector detector, std::string_view matched);

}  // namespace sallyport::guards
