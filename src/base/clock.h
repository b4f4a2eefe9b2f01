// Time is a parameter: the application passes the real clock, tests pass one that they set.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

// Microseconds since 1970 in UTC.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;
using SteadyTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual SteadyTime steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime wall() const override;
  SteadyTime steady() const override;
};

// RFC 3339 in UTC, six fractional digits, `Z`.
std::string rfc3339(WallTime time);

// Reads any RFC 3339 time. Offsets are converted to UTC, and digits after the sixth are dropped.
std::optional<WallTime> from_rfc3339(std::string_view text);

}  // namespace sallyport
