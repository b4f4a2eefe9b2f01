#include "app/daemon/api/opened_content.h"

#include "base/try.h"
#include "ledger/write/committer.h"

namespace sallyport::app {

Result<void> OpenedContent::note(const api::Person& person, const std::string& what) {
  constexpr std::size_t kMostNames = 4096;
  const SteadyTime now = clock_.steady();
  const bool first = noted_.with([&](std::map<std::string, SteadyTime>& noted) {
    const auto old = [&](SteadyTime at) { return now - at >= std::chrono::minutes(1); };
    if (noted.size() >= kMostNames) {
      std::erase_if(noted, [&](const auto& pair) { return old(pair.second); });
    }
    const auto [place, fresh] = noted.try_emplace(person.name, now);
    if (!fresh && !old(place->second)) return false;
    place->second = now;
    return true;
  });
  if (!first) return {};
  const json::object body{{"who", person.name}, {"how", person.how}, {"what", what.substr(0, 200)}};
  const auto written =
      ledger_.append_blocking({ledger::control("content_opened", body)}, core::Urgency::Reports);
  if (written) return {};
  noted_.with([&](std::map<std::string, SteadyTime>& noted) { noted.erase(person.name); });
  return std::unexpected(written.error());
}

}  // namespace sallyport::app
