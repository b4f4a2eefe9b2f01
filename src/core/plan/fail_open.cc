#include "core/plan/fail_open.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/shielded.h"

namespace sallyport::core {

void FailOpenLog::failed(const std::string& guard, const std::string& cause, Share& share) {
  const Stretch stretch = open_.with([&](auto& open) {
    Stretch& now = open[guard];
    if (now.calls == 0 || now.instance != instance()) now = {instance(), cause, 0};
    ++now.calls;
    return now;
  });
  if (log_) {
    // A failure of the log does not affect the call.
    (void)shielded("log", [&] {
      log_(
          fmt::format("guard `{}` failed ({}) and the policy lets the call pass: {} since it "
                      "began to fail",
                      guard, cause, stretch.calls));
    });
  }
  if (stretch.calls == 1) {
    share.drafts.push_back(
        {.kind = Kind::Control,
         .body = {{"control", "fail_open_started"}, {"guard", guard}, {"cause", cause}}});
  }
  // Written with every call, so that a crash leaves the right number.
  share.facts.push_back({"fail_open", stretch.instance + "/" + guard,
                         canonical_json(json::object{{"instance", stretch.instance},
                                                     {"guard", guard},
                                                     {"cause", stretch.cause},
                                                     {"calls", stretch.calls}})});
}

void FailOpenLog::worked(const std::string& guard, Share& share) {
  const std::optional<Stretch> ended = open_.with([&](auto& open) -> std::optional<Stretch> {
    const auto found = open.find(guard);
    if (found == open.end()) return std::nullopt;
    Stretch stretch = found->second;
    open.erase(found);
    return stretch;
  });
  if (!ended || ended->instance != instance()) return;
  share.drafts.push_back({.kind = Kind::Control,
                          .body = {{"control", "fail_open_ended"},
                                   {"guard", guard},
                                   {"cause", ended->cause},
                                   {"calls", ended->calls}}});
  share.facts.push_back({"fail_open", ended->instance + "/" + guard, std::nullopt});
}

}  // namespace sallyport::core
