#include "workbench/tier_source.h"

namespace sallyport::app {

std::optional<TierSource> tier_source_from(std::string_view word) {
  for (int at = 0; at <= static_cast<int>(TierSource::Rule); ++at) {
    const auto source = static_cast<TierSource>(at);
    if (to_string(source) == word) return source;
  }
  return std::nullopt;
}

}  // namespace sallyport::app
