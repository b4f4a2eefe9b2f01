#include "grants/failure_limit.h"

#include <algorithm>

namespace sallyport::grants {

bool FailureLimit::reached(const std::string& principal, SteadyTime now) {
  return failures_.with([&](Failures& failures) {
    const auto found = failures.find(principal);
    if (found == failures.end()) return false;
    std::deque<SteadyTime>& times = found->second;
    while (!times.empty() && now - times.front() >= settings_.per) times.pop_front();
    const bool over = times.size() >= settings_.most;
    if (times.empty()) failures.erase(found);
    return over;
  });
}

void FailureLimit::note(const std::string& principal, SteadyTime now) {
  failures_.with([&](Failures& failures) {
    std::deque<SteadyTime>& times = failures[principal];
    times.push_back(now);
    if (times.size() > settings_.most) times.pop_front();
    if (failures.size() > settings_.principals) forget_one(failures);
  });
}

void FailureLimit::forget_one(Failures& failures) const {
  const auto oldest =
      std::ranges::min_element(failures, {}, [](const auto& each) { return each.second.back(); });
  failures.erase(oldest);
}

}  // namespace sallyport::grants
