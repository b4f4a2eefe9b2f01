#include "core/call/call_events.h"

namespace sallyport::core {

Async<void> CallEvents::report(Trail& trail, Event event) {
  trail.rows.push_back(event_row(event, trail.subject()));
  // A reporting event has no error: what fails is in the rows.
  (void)co_await notify(trail, event);
}

Task<void> CallEvents::notify(Trail& trail, const Event& event,
                              std::optional<std::uint64_t> sequence) {
  if (!emitter_.has_hooks()) co_return Result<void>{};
  std::vector<Draft> failed;
  const Result<void> notified =
      co_await emitter_.notify(event, trail.subject(), failed, sequence, &trail.fail_open);
  for (Draft& draft : failed) trail.rows.push_back(std::move(draft));
  co_return notified;
}

}  // namespace sallyport::core
