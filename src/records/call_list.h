// Lists of calls for people: one row for each call, made from its newest audit record.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/read/query.h"
#include "sallyport/audit_record.h"

namespace sallyport::app {

struct CallRow {
  std::string time{};  // RFC 3339, of the newest record
  std::uint64_t sequence = 0;
  std::string call_id{};
  std::string agent{};
  std::string server{};
  std::string tool{};
  std::string about{};  // command, path or address that the call names, else its input
  std::string
      verdict{};  // runs, failed, withheld, cached, refused, skipped, proposed, asks, unknown
  std::string why{};
};

// The newest `count` calls whose records match, oldest first. `filter.facets` of kind is set here.
Result<std::vector<CallRow>> list_calls(ledger::ReadView& view, ledger::Filter filter,
                                        std::size_t count);

// The command, path or address in the input of a call, else the input on one line.
std::string call_subject(const json::value& input);

CallRow call_row(const AuditRecord& record);

// The outcomes of the records that calls with this verdict can have. Empty: there is no such
// verdict.
std::vector<std::string_view> outcomes_with(std::string_view verdict);

}  // namespace sallyport::app
