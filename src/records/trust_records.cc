#include "records/trust_records.h"

#include <boost/json.hpp>
#include <fstream>

#include "base/json_members.h"
#include "base/try.h"
#include "ledger/entry/trust_link.h"
#include "ledger/read/query.h"
#include "terminal/input.h"
#include "trust/chain_file.h"

namespace sallyport::app {

Result<void> each_trust_text(ledger::ReadView& view, const OnTrustText& on_text) {
  const ledger::Filter trust{.facets = {{ledger::Facet::Kind, "trust"}}};
  return ledger::find_entries(
      view, trust,
      [&](const ledger::StoredEntry& stored, const ledger::EntryView&) -> Result<bool> {
        SALLYPORT_TRY(const json::value entry, parse_own_json(*stored.bytes));
        const json::object* const body = object_in(entry.get_object(), "body");
        if (body == nullptr) return ledger::ledger_unavailable("corrupt", "an entry has no body");
        return on_text(ledger::trust_record_text(*body));
      });
}

ledger::CheckControl signed_by(trust::Reviewers reviewers) {
  return [reviewers = std::move(reviewers)](const json::object& body,
                                            const std::string& origin) -> Result<void> {
    SALLYPORT_TRY(const ParsedJson parsed, parse_json(ledger::trust_record_text(body)));
    SALLYPORT_TRY(const trust::TrustRecord record, trust::trust_record_from_json(parsed.value));
    return trust::check_recorded_control(record, origin, reviewers);
  };
}

Result<void> each_trust_record(ledger::ReadView& view, const OnTrustRecord& on_record) {
  return each_trust_text(view, [&](std::string_view text) -> Result<bool> {
    SALLYPORT_TRY(const ParsedJson parsed, parse_json(text));
    SALLYPORT_TRY(trust::TrustRecord record, trust::trust_record_from_json(parsed.value));
    on_record(std::move(record));
    return true;
  });
}

Result<void> each_trust_record(const std::filesystem::path& file, const OnTrustRecord& on_record) {
  SALLYPORT_CHECK_OK(refuse_folder(file));
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(ErrorCode::NotFound, "there is no such file", file.string());
  const trust::OnChain on_chain{.record = [&](std::string_view text) -> Result<void> {
    SALLYPORT_TRY(const ParsedJson parsed, parse_json(text));
    SALLYPORT_TRY(trust::TrustRecord record, trust::trust_record_from_json(parsed.value));
    on_record(std::move(record));
    return {};
  }};
  SALLYPORT_CHECK_OK(trust::read_chain(in, on_chain));
  return {};
}

}  // namespace sallyport::app
