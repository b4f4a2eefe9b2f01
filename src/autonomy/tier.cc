#include "autonomy/tier.h"

namespace sallyport::autonomy {

std::optional<Autonomy> tier_from(std::string_view word) {
  for (const Autonomy tier : kTiers) {
    if (to_string(tier) == word) return tier;
  }
  return std::nullopt;
}

}  // namespace sallyport::autonomy
