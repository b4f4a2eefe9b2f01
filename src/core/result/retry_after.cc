#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/trimmed.h"
#include "sallyport/retry.h"

namespace sallyport {

namespace {

using namespace std::chrono;

using Parts = std::vector<std::string_view>;

// A year is longer than any caller waits, and far from overflow.
constexpr seconds kLongestReadable = days(366);

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<milliseconds> whole_seconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (!all_digits(text)) return std::nullopt;
  if (negative) return milliseconds(0);
  std::int64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec == std::errc::result_out_of_range) return kLongestReadable;
  return std::min(seconds(count), kLongestReadable);
}

Parts split(std::string_view text) {
  Parts parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,-:"), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// -1: not 1 to 4 digits.
int small_number(std::string_view text) {
  int number = -1;
  if (all_digits(text) && text.size() <= 4) {
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

unsigned month_number(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::ranges::find(kMonths, name);
  return found == kMonths.end() ? 0 : static_cast<unsigned>(found - kMonths.begin()) + 1;
}

// RFC 9110: a two-digit year that would be over 50 years ahead is one of the past.
int full_year(std::string_view text, WallTime now) {
  const int number = small_number(text);
  if (text.size() != 2) return text.size() == 4 ? number : -1;
  const int this_year = static_cast<int>(year_month_day(floor<days>(now)).year());
  const int in_this_century = this_year / 100 * 100 + number;
  return in_this_century > this_year + 50 ? in_this_century - 100 : in_this_century;
}

// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
std::optional<WallTime> http_date(std::string_view text, WallTime now) {
  Parts parts = split(text);
  if (parts.size() == 7) {
    parts = {parts[0], parts[2], parts[1], parts[6], parts[3], parts[4], parts[5], "GMT"};
  }
  if (parts.size() != 8 || parts[7] != "GMT") return std::nullopt;
  const year_month_day date(year(full_year(parts[3], now)), month(month_number(parts[2])),
                            day(static_cast<unsigned>(small_number(parts[1]))));
  const int hour = small_number(parts[4]);
  const int minute = small_number(parts[5]);
  const int second = small_number(parts[6]);
  const bool sound = date.ok() && parts[1].size() <= 2 && date.year() >= year(0) && hour >= 0 &&
                     hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 60;
  if (!sound) return std::nullopt;
  return WallTime{sys_days{date}} + hours(hour) + minutes(minute) + seconds(second);
}

}  // namespace

std::optional<milliseconds> parse_retry_after(std::string_view text, WallTime now) {
  text = trimmed_field(text);
  if (const auto wait = whole_seconds(text)) return wait;
  const std::optional<WallTime> due = http_date(text, now);
  if (!due) return std::nullopt;
  return std::max(ceil<milliseconds>(*due - now), milliseconds(0));
}

}  // namespace sallyport
