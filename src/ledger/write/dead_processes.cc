#include "ledger/write/dead_processes.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "base/json_members.h"
#include "base/try.h"
#include "core/handoff/waiting_facts.h"
#include "ledger/read/stored_entry.h"
#include "ledger/write/committer.h"

namespace sallyport::ledger {

Result<void> DeadProcesses::find() {
  SALLYPORT_TRY(const std::vector<core::Fact> instances, view_.facts("instance"));
  for (const core::Fact& instance : instances) {
    if (members_.alive(instance.key)) {
      ++alive_;
    } else {
      dead_.push_back(instance.key);
    }
  }
  return {};
}

Result<void> DeadProcesses::close_calls() {
  return close_calls_if([this](const std::string& instance) { return !members_.alive(instance); });
}

Result<std::size_t> DeadProcesses::close_calls_of(const std::string& instance) {
  std::size_t calls = 0;
  SALLYPORT_CHECK_OK(close_calls_if([&](const std::string& opened_by) {
    return opened_by == instance && ++calls <= kMostCallsAtOnce;
  }));
  dead_.push_back(instance);
  return calls;
}

// The value of the fact names who opened the call and the entry that says so: `instance@sequence`.
Result<void> DeadProcesses::close_calls_if(const std::function<bool(const std::string&)>& is_dead) {
  SALLYPORT_TRY(const std::vector<core::Fact> open_calls, view_.facts(core::kOpenCall));
  for (const core::Fact& open : open_calls) {
    const std::optional<core::Placed> placed = core::split_place(*open.value);
    if (!placed || !is_dead(placed->value)) continue;
    SALLYPORT_TRY(const std::optional<StoredEntry> stored, view_.entry(placed->sequence));
    if (stored && stored->bytes) {
      SALLYPORT_TRY(const json::object entry, opened_entry(*stored));
      for (core::Draft& draft : close_(entry)) drafts_.push_back(std::move(draft));
    }
    // The call is closed now, in every case.
    SALLYPORT_CHECK_OK(view_.put_fact({std::string(core::kOpenCall), open.key, std::nullopt}));
  }
  return {};
}

Result<void> DeadProcesses::close_fail_open(std::string_view ended_by) {
  SALLYPORT_TRY(const std::vector<core::Fact> open, view_.facts("fail_open"));
  for (const core::Fact& interval : open) {
    SALLYPORT_TRY(const json::value value, parse_own_json(*interval.value));
    const json::object* const state = value.if_object();
    const std::string instance = state ? text_or_empty(*state, "instance") : "";
    if (instance.empty()) {
      return ledger_damaged("a fact `fail_open` is damaged");
    }
    if (std::ranges::find(dead_, instance) == dead_.end()) continue;
    json::object details{{"ended_by", ended_by}};
    for (const char* const name : {"guard", "cause", "calls"}) {
      if (const json::value* const copied = state->if_contains(name)) details[name] = *copied;
    }
    core::Draft ended = control("fail_open_ended", std::move(details));
    ended.facts.push_back({"fail_open", interval.key, std::nullopt});
    drafts_.push_back(std::move(ended));
  }
  return {};
}

std::vector<std::size_t> records_among(const std::vector<core::Draft>& drafts) {
  std::vector<std::size_t> records;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].kind == core::Kind::ToolAudit) records.push_back(i);
  }
  return records;
}

}  // namespace sallyport::ledger
