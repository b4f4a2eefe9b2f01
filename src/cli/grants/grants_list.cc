// The tokens that were issued or seen, as the ledger knows them (CG-63).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "cli/command.h"
#include "cli/grants/grant_files.h"
#include "ledger/read/store_reader.h"
#include "records/grant_list.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

std::string validity(const GrantRow& row) {
  const std::string end = time_text(row.token.expires_at);
  if (row.state == "valid") return "valid until " + end;
  if (row.state == "expired") return "expired at " + end;
  return fmt::format("{} (would expire at {})", row.state, end);
}

Result<int> grants_list(const Context& context) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader reader(workspace->store());
  SALLYPORT_TRY(const std::vector<GrantRow> rows, grant_rows(reader, workspace->clock().wall()));
  if (rows.empty() && !context.json()) print_line("no grants");
  for (const GrantRow& row : rows) {
    print_line(context.json() ? visible_json(canonical_json(to_json(row)))
                              : fmt::format("{}  {}  {}, {}, {} uses, {} reserved", row.token.id,
                                            visible(row.token.principal), validity(row),
                                            row.token.origin, row.count.used, row.count.held));
  }
  return 0;
}

const Command kGrantsList("grants list", "list tokens that were issued or seen, with their uses",
                          grants_list);

}  // namespace

}  // namespace sallyport::app
