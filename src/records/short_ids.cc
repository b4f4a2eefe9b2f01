#include "records/short_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/try.h"
#include "core/approval/approval_state.h"
#include "core/approval/escalations.h"
#include "ledger/read/store_reader.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kWholeUuid = 36;

Result<std::string> only_one(const std::string& text, std::vector<std::string> found) {
  if (found.empty()) return text;
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  if (found.size() == 1) return found.front();
  return fail(ErrorCode::InvalidInput,
              fmt::format("{} ids begin with `{:.80}`, such as {} and {}; write more of it",
                          found.size(), text, found.front(), found.back()));
}

// The part before the first separator is optional.
bool begins(const std::string& id, const std::string& text) {
  if (id.starts_with(text)) return true;
  const std::size_t separator = id.find_first_of("_-");
  return separator == 3 && id.compare(separator + 1, text.size(), text) == 0;
}

}  // namespace

Result<std::string> whole_request_id(const Context& context, const std::string& text) {
  if (text.size() < kShortestId) return text;
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  std::vector<std::string> found;
  SALLYPORT_TRY(const std::vector<core::Fact> requests, records.facts(core::kApprovalSpace));
  for (const core::Fact& request : requests) {
    if (request.key == text) return text;
    if (begins(request.key, text)) found.push_back(request.key);
  }
  SALLYPORT_TRY(const std::vector<EscalationItem> items, core::waiting_escalations(records));
  for (const EscalationItem& item : items) {
    if (item.id == text) return text;
    if (begins(item.id, text)) found.push_back(item.id);
  }
  return only_one(text, std::move(found));
}

Result<std::string> whole_call_id(ledger::ReadView& view, const std::string& text) {
  if (text.size() < kShortestId || text.size() >= kWholeUuid) return text;
  std::vector<std::string> found;
  SALLYPORT_TRY(const auto calls, ledger::count_by(view, ledger::Facet::Call));
  for (const auto& [call, entries] : calls) {
    if (call == text) return text;
    if (call.starts_with(text)) found.push_back(call);
  }
  return only_one(text, std::move(found));
}

Result<void> complete_call(ledger::ReadView& view, ledger::Filter& filter) {
  const auto named = filter.facets.find(ledger::Facet::Call);
  if (named == filter.facets.end()) return {};
  SALLYPORT_TRY(named->second, whole_call_id(view, named->second));
  return {};
}

}  // namespace sallyport::app
