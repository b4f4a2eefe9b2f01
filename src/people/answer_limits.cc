#include "people/answer_limits.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "ledger/read/query.h"

namespace sallyport::app {

namespace {

Result<std::size_t> count(ledger::LedgerStore& store, const ledger::Filter& filter) {
  std::size_t found = 0;
  SALLYPORT_CHECK_OK(store.read([&](ledger::ReadView& view) {
    return ledger::find_entries(view, filter,
                                [&](const ledger::StoredEntry&, const ledger::EntryView&) {
                                  ++found;
                                  return Result<bool>(true);
                                });
  }));
  return found;
}

}  // namespace

Result<std::size_t> recent_approvals(ledger::LedgerStore& store, const std::string& person,
                                     WallTime now) {
  constexpr auto kLately = std::chrono::minutes(10);
  return count(store, {.facets = {{ledger::Facet::Kind, "approval"}},
                       .body = {{"record", "approval_response"},
                                {"reviewer", json::value(person)},
                                {"approved", true}},
                       .since = now - kLately});
}

Result<bool> needs_own_look(ledger::LedgerStore& store, const json::object& request,
                            const core::ApprovalState& state) {
  if (state.needs_human || core::kind_of(request) == QuestionKind::DualControl) return true;
  // A question of an earlier release does not say it, but the record of its call may.
  SALLYPORT_TRY(const std::size_t human,
                count(store, {.facets = {{ledger::Facet::Call, text_or_empty(request, "call_id")},
                                         {ledger::Facet::Kind, "tool_audit"}},
                              .body = {{"autonomy_source", "requires_human"}},
                              .limit = 1}));
  return human > 0;
}

Result<void> check_haste(ledger::LedgerStore& store, const std::string& person, WallTime now,
                         std::string_view then) {
  SALLYPORT_TRY(const std::size_t recent, recent_approvals(store, person, now));
  if (recent < kHastyApprovals) return {};
  return fail(ErrorCode::Exhausted, fmt::format("{} approvals in ten minutes: {}", recent, then),
              {}, "haste");
}

Result<void> check_seen(const std::vector<core::HiddenPart>& hidden, std::string_view then) {
  if (!core::any_command(hidden)) return {};
  return fail(ErrorCode::Exhausted, fmt::format("redaction hides a part of this command: {}", then),
              {}, "haste");
}

std::string word_of_yes(const Result<std::size_t>& recent,
                        const std::vector<core::HiddenPart>& hidden, const std::string& binding) {
  constexpr std::size_t kFirst = std::string_view("sha256:").size();
  constexpr std::size_t kDigits = 8;
  const bool at_once = recent && *recent < kHastyApprovals && !core::any_command(hidden);
  if (at_once || binding.size() < kFirst + kDigits) return "y";
  return binding.substr(kFirst, kDigits);
}

Result<void> may_be_listed(ledger::LedgerStore& store, const json::object& request,
                           const core::ApprovalState& state, const std::string& person,
                           WallTime now) {
  SALLYPORT_TRY(const bool own_look, needs_own_look(store, request, state));
  if (own_look) return fail(ErrorCode::Conflict, "approve this call alone, not in a batch");
  SALLYPORT_TRY(const std::size_t recent, recent_approvals(store, person, now));
  if (recent < kHastyApprovals) return {};
  return fail(
      ErrorCode::Exhausted,
      fmt::format("{} approvals in ten minutes; the next ones are given one by one", recent), {},
      "haste");
}

}  // namespace sallyport::app
