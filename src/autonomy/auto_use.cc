#include "autonomy/auto_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sallyport::autonomy {

namespace {

using std::chrono::microseconds;

std::optional<WallTime> time_from(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return WallTime(microseconds(number));
}

std::string text_of(const std::optional<WallTime>& time) {
  return time ? fmt::format("{}", time->time_since_epoch().count()) : std::string();
}

std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::unexpected<Error> corrupt() {
  return fail(ErrorCode::Corrupt, "the stored use of an autonomy budget cannot be read");
}

}  // namespace

std::string_view to_string(Window window) {
  return window == Window::Hour ? "hour" : "day";
}

microseconds length_of(Window window) {
  return window == Window::Hour ? std::chrono::hours(1) : std::chrono::hours(24);
}

// `announced for the hour;announced for the day;time,time,...` in microseconds.
Result<AutoUse> AutoUse::parse(std::string_view stored) {
  AutoUse use;
  if (stored.empty()) return use;
  if (std::ranges::count(stored, ';') != 2) return corrupt();
  for (std::optional<WallTime>& announced : use.announced_) {
    const std::string_view part = take_until(stored, ';');
    announced = time_from(part);
    if (!part.empty() && !announced) return corrupt();
  }
  while (!stored.empty()) {
    const std::optional<WallTime> time = time_from(take_until(stored, ','));
    if (!time) return corrupt();
    use.dispatches_.push_back(*time);
  }
  return use;
}

std::string AutoUse::text() const {
  std::string text = text_of(announced_[0]) + ';' + text_of(announced_[1]) + ';';
  for (const WallTime time : dispatches_) {
    if (text.back() != ';') text += ',';
    text += text_of(time);
  }
  return text;
}

// A time in the future, because the clock was set back, still counts.
std::size_t AutoUse::count(Window window, WallTime now) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      dispatches_, [&](WallTime time) { return now - time < length_of(window); }));
}

AutoUse::Excess AutoUse::weigh(const Budget& budget, WallTime now) const {
  Excess verdict;
  for (const Window window : {Window::Hour, Window::Day}) {
    const auto& most = window == Window::Hour ? budget.max_per_hour : budget.max_per_day;
    if (!most || count(window, now) < *most) continue;
    verdict.exhausted = true;
    const std::optional<WallTime>& last = announced_[static_cast<std::size_t>(window)];
    if (!last || now - *last >= length_of(window)) verdict.to_announce.push_back(window);
  }
  return verdict;
}

void AutoUse::add_dispatch(WallTime now) {
  std::erase_if(dispatches_, [&](WallTime time) { return now - time >= length_of(Window::Day); });
  dispatches_.push_back(now);
}

void AutoUse::set_announced(Window window, WallTime now) {
  announced_[static_cast<std::size_t>(window)] = now;
}

}  // namespace sallyport::autonomy
