// The four tiers of AT-1 as words and as an order: shadow < suggest < act_with_approval < act_auto.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "sallyport/classification.h"

namespace sallyport::autonomy {

inline constexpr std::array kTiers = {Autonomy::Shadow, Autonomy::Suggest,
                                      Autonomy::ActWithApproval, Autonomy::ActAuto};

std::optional<Autonomy> tier_from(std::string_view word);

constexpr Autonomy lower(Autonomy a, Autonomy b) {
  return std::min(a, b);
}

}  // namespace sallyport::autonomy
