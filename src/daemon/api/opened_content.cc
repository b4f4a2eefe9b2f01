#include "daemon/api/opened_content.h"

#include "base/try.h"
#include "ledger/write/committer.h"

namespace sallyport::app {

Result<void> OpenedContent::note(const api::Person& person, const std::string& what) {
  const SteadyTime now = clock_.steady();
  const auto old = [&](SteadyTime at) { return now - at >= std::chrono::minutes(1); };
  const bool on_record = noted_.with([&](const auto& noted) {
    const auto found = noted.find(person.name);
    return found != noted.end() && !old(found->second);
  });
  if (on_record) return {};
  const json::object body{
      {"who", person.name}, {"how", person.method}, {"what", what.substr(0, 200)}};
  SALLYPORT_CHECK_OK(
      ledger_.append_blocking({ledger::control("content_opened", body)}, core::Urgency::Reports));
  // Set only now: a concurrent request must not show anything before it is recorded.
  noted_.with([&](auto& noted) {
    constexpr std::size_t kMostNames = 4096;
    if (noted.size() >= kMostNames) {
      std::erase_if(noted, [&](const auto& pair) { return old(pair.second); });
    }
    noted[person.name] = now;
  });
  return {};
}

}  // namespace sallyport::app
