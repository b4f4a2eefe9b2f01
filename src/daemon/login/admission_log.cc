#include "daemon/login/admission_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cut_text.h"

namespace sallyport::app {

namespace {

constexpr double kRowsAtOnce = 32;
constexpr double kSecondsEach = 30;
constexpr std::size_t kLongestReason = 200;
// The client did not prove who it is.
constexpr const char* kNobody = "unauthenticated";

}  // namespace

bool AdmissionLog::may_write() {
  const SteadyTime now = clock_.steady();
  if (filled_ != SteadyTime{}) {
    const double passed = std::chrono::duration<double>(now - filled_).count();
    left_ = std::min(kRowsAtOnce, left_ + passed / kSecondsEach);
  }
  filled_ = now;
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

Async<void> AdmissionLog::record(std::string route, unsigned status, std::string why) {
  if (!may_write()) {
    ++unrecorded_;
    co_return;
  }
  while (why.ends_with('\n')) why.pop_back();
  std::string detail =
      fmt::format("{} at {}: {}", status, route, cut_utf8_bytes(readable(why), kLongestReason));
  const std::uint64_t unrecorded = std::exchange(unrecorded_, 0);
  if (unrecorded > 0) detail += fmt::format(" (and {} refusals before it)", unrecorded);
  const Event denied = event::AuthorizationDenied{.agent_id = kNobody,
                                                  .action = event::DeniedAction::FrontAdmission,
                                                  .detail = std::move(detail)};
  // A report: an entry that cannot be written now is written later. The client stays rejected.
  (void)co_await emitter_.emit(denied, Subject{.agent_id = kNobody});
}

}  // namespace sallyport::app
