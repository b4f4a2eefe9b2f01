#include "cli/terminal/age.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace sallyport::app {

std::string age_of(const std::string& time, WallTime now) {
  const std::optional<WallTime> then = from_rfc3339(time);
  if (!then) return "?";
  const auto age = std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::seconds>(now - *then).count());
  if (age < 120) return fmt::format("{} s", age);
  if (age < 7200) return fmt::format("{} min", age / 60);
  if (age < 172'800) return fmt::format("{} h", age / 3600);
  return fmt::format("{} d", age / 86'400);
}

}  // namespace sallyport::app
