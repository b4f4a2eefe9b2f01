#include "daemon/gate_health.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/record/draft.h"
#include "ledger/entry/entry.h"
#include "ledger/read/look_at.h"
#include "ledger/read/query.h"
#include "workspace/version.h"

namespace sallyport::app {

namespace {

constexpr std::uint64_t kLookedBack = 8192;  // entries

// No value: it began before the entries that are searched.
Result<json::value> failing_since(ledger::ReadView& view, const std::string& guard) {
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  ledger::Filter filter{
      .facets = {{ledger::Facet::Kind, "control"}},
      .body = {{"control", json::value("fail_open_started")}, {"guard", json::value(guard)}}};
  if (size > kLookedBack) filter.after = size - kLookedBack;
  SALLYPORT_TRY(const std::vector<ledger::StoredEntry> found,
                ledger::newest_entries(view, filter, 1));
  if (found.empty()) return json::value();
  SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*found.front().bytes));
  return json::value(entry.recorded_at);
}

Result<void> add_failing_guards(ledger::ReadView& view, json::array& all) {
  SALLYPORT_TRY(const std::vector<core::Fact> open, view.facts("fail_open"));
  for (const core::Fact& fact : open) {
    SALLYPORT_TRY(const json::value state, parse_own_json(fact.value.value_or("{}")));
    const std::string guard =
        state.is_object() ? text_or_empty(state.get_object(), "guard") : std::string();
    SALLYPORT_TRY(json::value since, failing_since(view, guard));
    all.push_back(json::object{{"kind", "fail_open"},
                               {"since", std::move(since)},
                               {"detail", fmt::format("guard {}", guard)}});
  }
  return {};
}

Result<void> add_refused_policy(ledger::ReadView& view, json::array& all) {
  SALLYPORT_TRY(const std::optional<std::string> fact, view.fact("policy", "refused"));
  const auto refused = core::split_place(fact.value_or(""));
  if (!refused) return {};
  SALLYPORT_TRY(const auto stored, view.entry(refused->sequence));
  json::value since;
  if (stored && stored->bytes) {
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored->bytes));
    since = entry.recorded_at;
  }
  all.push_back(json::object{
      {"kind", "policy_refused"}, {"since", std::move(since)}, {"detail", refused->value}});
  return {};
}

}  // namespace

Result<json::array> banner(ledger::ReadView& view, const ledger::Health& health) {
  json::array all;
  if (!health.ok) {
    all.push_back(
        json::object{{"kind", "ledger_unwritable"}, {"since", nullptr}, {"detail", health.cause}});
  }
  SALLYPORT_CHECK_OK(add_failing_guards(view, all));
  SALLYPORT_CHECK_OK(add_refused_policy(view, all));
  return all;
}

Result<json::object> health_json(ledger::Ledger& ledger) {
  return ledger::look_at(ledger.store(), [&](ledger::ReadView& view) -> Result<json::object> {
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    SALLYPORT_TRY(json::array wrong, banner(view, ledger.health()));
    return json::object{{"ok", wrong.empty()},
                        {"version", version()},
                        {"size", size},
                        {"banner", std::move(wrong)}};
  });
}

}  // namespace sallyport::app
