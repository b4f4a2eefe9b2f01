// The four tiers of AT-1 as an order: shadow < suggest < act_with_approval < act_auto.
#pragma once

#include <algorithm>
#include <array>

#include "sallyport/classification.h"

namespace sallyport::autonomy {

inline constexpr std::array kTiers = {Autonomy::Shadow, Autonomy::Suggest,
                                      Autonomy::ActWithApproval, Autonomy::ActAuto};

constexpr Autonomy lower(Autonomy a, Autonomy b) {
  return std::min(a, b);
}

}  // namespace sallyport::autonomy
