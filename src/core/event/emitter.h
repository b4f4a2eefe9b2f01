// Records events and notifies the hooks: first the row in the ledger, then the hooks (EV-57,
// EV-77).
#pragma once

#include <memory>
#include <vector>

#include "core/event/hook_registry.h"
#include "core/record/record_log.h"
#include "core/record/redactor.h"

namespace sallyport::core {

class FailOpen;
class PlanSource;

class Emitter {
 public:
  struct Parts {
    RecordLog& records;
    const Redactor& redactor;
    const Clock& clock;
    HookRegistry hooks{};
    // plans whose hooks are notified after those; null: there are none
    const PlanSource* plans = nullptr;
  };
  explicit Emitter(Parts parts) : parts_(std::move(parts)) {}

  // Notifies the hooks of an event whose row is or will be in a commit of the caller. For an
  // announcing event the error names every hook that failed. For a reporting event there is no
  // error: `rows` gets a `hook_failed` for each. A hook that may fail open stops nothing:
  // `fail_open` counts it, or if null, `rows` gets a `hook_failed`. `rows` also gets the hooks'
  // rows.
  Task<void> notify(const Event& event, const SharedSubject& subject, std::vector<Draft>& rows,
                    std::optional<std::uint64_t> sequence = {}, FailOpen* fail_open = nullptr);
  bool has_hooks() const;

  // Records an event in its own commit, then notifies the hooks. The error `store` means that the
  // row cannot be written: an announcing event was not announced, a reporting one is owed. `facts`
  // change with the row. `expected` is as in `RecordLog::append`; `Conflict`: they differ.
  // `changes` run in its transaction; `Exhausted`: one of them refuses.
  Task<void> emit(Event event, SharedSubject subject, std::vector<Fact> facts = {},
                  std::vector<Fact> expected = {},
                  std::vector<std::shared_ptr<const FactChange>> changes = {});

 private:
  Result<Event> redacted(const Event& event) const;
  Async<HookRegistry::Notified> notify_hooks(const Event& event, const SharedSubject& subject,
                                             FailOpen* fail_open) const;
  // The hooks of the current policy.
  std::vector<std::shared_ptr<const EventHook>> plan_hooks() const;
  Parts parts_;
};

// Returns the row of an event, for a caller that commits it with other entries.
Draft event_row(const Event& event, const SharedSubject& subject);

// The entry that a hook failed (EV-61).
Draft hook_failed(const std::string& hook, std::string_view event_type,
                  std::optional<std::uint64_t> sequence, const std::string& error,
                  const SharedSubject& subject);

}  // namespace sallyport::core
