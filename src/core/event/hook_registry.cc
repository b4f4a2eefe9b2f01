#include "core/event/hook_registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "core/event/topic_event.h"
#include "core/plan/judge.h"

namespace sallyport::core {

namespace {

// One refused row refuses all rows: the hook has failed.
Result<std::vector<Draft>> drafts_of(HookRows rows, const Subject& subject) {
  if (rows.size() > kMostHookRows) {
    return fail(ErrorCode::InvalidInput, fmt::format("the hook added {} rows, at most {} are kept",
                                                     rows.size(), kMostHookRows));
  }
  std::vector<Draft> drafts;
  for (TopicEvent& row : rows) {
    SALLYPORT_TRY(Draft draft, program_draft(std::move(row), subject));
    drafts.push_back(std::move(draft));
  }
  return drafts;
}

}  // namespace

Result<void> HookRegistry::with_hook(std::shared_ptr<const EventHook> hook) {
  const std::string& name = hook->name();
  const bool taken =
      std::ranges::any_of(hooks_, [&](const auto& present) { return present->name() == name; });
  if (name.empty() || taken) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("hook name `{}` is {}", name, taken ? "taken" : "empty"), "hook");
  }
  hooks_.push_back(std::move(hook));
  return {};
}

Result<void> HookRegistry::extend(std::vector<std::shared_ptr<const EventHook>> hooks) {
  for (std::shared_ptr<const EventHook>& hook : hooks) {
    SALLYPORT_CHECK_OK(with_hook(std::move(hook)));
  }
  return {};
}

Async<HookRegistry::Notified> HookRegistry::notify(Event event, Subject subject, Subject shown,
                                                   const Clock& clock) const {
  Notified all;
  for (const std::shared_ptr<const EventHook>& hook : hooks_) {
    if (!hook->wants(subject)) continue;
    Result<HookRows> rows =
        co_await notified(hook, event, shown, hook->limit().value_or(limit_), clock);
    Result<std::vector<Draft>> drafts =
        rows ? drafts_of(std::move(*rows), subject)
             : Result<std::vector<Draft>>(std::unexpected(rows.error()));
    if (!drafts) {
      const bool refuses = drafts.error().cause == kHookRefuses;
      all.failures.push_back({.hook = hook->name(),
                              .error = drafts.error().message,
                              .refuses = refuses,
                              .passes = !refuses && hook->fails_open()});
      continue;
    }
    for (Draft& draft : *drafts) all.rows.push_back(std::move(draft));
  }
  co_return all;
}

}  // namespace sallyport::core
