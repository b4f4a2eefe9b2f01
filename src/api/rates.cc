#include "api/rates.h"

#include <algorithm>

namespace sallyport::api {

void Rate::forget() {
  const SteadyTime now = clock_.steady();
  std::erase_if(times_, [&](const auto& pair) {
    return pair.second.empty() || now - pair.second.back() >= limits_.window;
  });
  if (times_.size() < limits_.names) return;
  times_.erase(
      std::ranges::min_element(times_, {}, [](const auto& pair) { return pair.second.back(); }));
}

Rate::Room Rate::take(const std::string& name) {
  if (times_.size() >= limits_.names && !times_.contains(name)) forget();
  const SteadyTime now = clock_.steady();
  std::deque<SteadyTime>& times = times_[name];
  while (!times.empty() && now - times.front() >= limits_.window) times.pop_front();
  if (times.size() >= limits_.most) {
    const auto wait = limits_.window - (now - times.front());
    return {false, 0,
            std::max(std::chrono::ceil<std::chrono::seconds>(wait), std::chrono::seconds(1))};
  }
  times.push_back(now);
  return {true, limits_.most - times.size(), {}};
}

}  // namespace sallyport::api
