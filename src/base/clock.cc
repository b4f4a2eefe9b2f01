#include "base/clock.h"

namespace sallyport {

using namespace std::chrono;

WallTime SystemClock::wall() const {
  return time_point_cast<microseconds>(system_clock::now());
}

SteadyTime SystemClock::steady() const {
  return steady_clock::now();
}

std::string rfc3339(WallTime time) {
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  // Written by hand: every entry has a time, and a formatter costs more than hashing the entry.
  std::string text = "0000-00-00T00:00:00.000000Z";
  const auto put = [&text](std::size_t end, std::size_t width, std::uint64_t number) {
    for (; width > 0; --width, number /= 10) text[--end] = static_cast<char>('0' + number % 10);
  };
  put(4, 4, static_cast<std::uint64_t>(static_cast<int>(date.year())));
  put(7, 2, static_cast<unsigned>(date.month()));
  put(10, 2, static_cast<unsigned>(date.day()));
  put(13, 2, static_cast<std::uint64_t>(clock.hours().count()));
  put(16, 2, static_cast<std::uint64_t>(clock.minutes().count()));
  put(19, 2, static_cast<std::uint64_t>(clock.seconds().count()));
  put(26, 6, static_cast<std::uint64_t>(clock.subseconds().count()));
  return text;
}

namespace {

// Reads fixed-width digits and separators from the front. After a failure all reads fail.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  int digits(std::size_t width) {
    int value = 0;
    if (rest_.size() < width) return miss();
    for (std::size_t i = 0; i < width; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return miss();
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(width);
    return value;
  }

  char one_of(std::string_view accepted) {
    if (rest_.empty() || !accepted.contains(rest_.front())) return static_cast<char>(miss());
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  // The fraction as six digits, filled up or cut; 0 if there is no fraction.
  int microseconds_behind_the_point() {
    if (rest_.empty() || rest_.front() != '.') return 0;
    rest_.remove_prefix(1);
    int value = 0;
    std::size_t count = 0;
    for (; count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9'; ++count) {
      if (count < 6) value = value * 10 + (rest_[count] - '0');
    }
    if (count == 0) return miss();
    for (std::size_t i = count; i < 6; ++i) value *= 10;
    rest_.remove_prefix(count);
    return value;
  }

  bool finished() const { return good_ && rest_.empty(); }

 private:
  int miss() {
    good_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::optional<WallTime> from_rfc3339(std::string_view text) {
  Reader reader(text);
  const int y = reader.digits(4);
  reader.one_of("-");
  const int mo = reader.digits(2);
  reader.one_of("-");
  const int d = reader.digits(2);
  reader.one_of("Tt ");
  const int h = reader.digits(2);
  reader.one_of(":");
  const int mi = reader.digits(2);
  reader.one_of(":");
  const int s = reader.digits(2);
  const int fraction = reader.microseconds_behind_the_point();
  const char zone = reader.one_of("Zz+-");
  minutes offset{0};
  if (zone == '+' || zone == '-') {
    const int oh = reader.digits(2);
    reader.one_of(":");
    const int om = reader.digits(2);
    if (oh > 23 || om > 59) return std::nullopt;
    offset = minutes{oh * 60 + om} * (zone == '-' ? -1 : 1);
  }
  const year_month_day date{year{y}, month{static_cast<unsigned>(mo)},
                            day{static_cast<unsigned>(d)}};
  if (!reader.finished() || !date.ok() || h > 23 || mi > 59 || s > 60) return std::nullopt;
  return WallTime{sys_days{date}} + hours{h} + minutes{mi} + seconds{s} + microseconds{fraction} -
         offset;
}

}  // namespace sallyport
