#include "core/hook_registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "core/judge.h"

namespace sallyport::core {

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

Async<std::vector<HookRegistry::Failure>> HookRegistry::tell(Event event, Subject subject,
                                                             const Clock& clock) const {
  std::vector<Failure> failures;
  for (const std::shared_ptr<const EventHook>& hook : hooks_) {
    const std::optional<std::string> failure =
        co_await told(hook, event, subject, hook->limit().value_or(limit_), clock);
    if (failure) failures.push_back({hook->name(), *failure, hook->fails_open()});
  }
  co_return failures;
}

}  // namespace sallyport::core
