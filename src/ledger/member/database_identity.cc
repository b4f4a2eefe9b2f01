#include "ledger/member/database_identity.h"

#include <fmt/format.h>

#include "base/try.h"
#include "ledger/ledger.h"

namespace sallyport::ledger {

namespace {

constexpr const char* kDatabase = "database";

}  // namespace

// A copy of the rows in another database is another log, unless a person accepts it.
Result<void> Ledger::check_identity(WriteView& view) const {
  const std::string identity = parts_.store.identity();
  const bool acknowledged = !settings_.acknowledged_rollback.empty();
  if (!acknowledged) SALLYPORT_CHECK_OK(check_database(view, identity));
  if (identity.empty() || !(acknowledged || settings_.announced)) return {};
  SALLYPORT_TRY(const std::optional<std::string> first, view.fact("ledger", kDatabase));
  if (first == identity) return {};
  return view.put_fact({"ledger", kDatabase, identity});
}

Result<void> check_database(ReadView& view, const std::string& identity) {
  SALLYPORT_TRY(const std::optional<std::string> first, view.fact("ledger", kDatabase));
  if (identity.empty() || !first || *first == identity) return {};
  return fail(ErrorCode::Corrupt,
              fmt::format("this log was written in the database with the system identifier {}, "
                          "and this one has {}; if the log was restored here on purpose, run "
                          "`sallyport ledger acknowledge --reason TEXT`",
                          *first, identity),
              {}, "corrupt");
}

}  // namespace sallyport::ledger
