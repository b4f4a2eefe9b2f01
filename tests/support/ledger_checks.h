// Checks that most tests of a whole ledger use.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ledger/proof/receipt.h"
#include "ledger/proof/verify.h"
#include "support/test_ledger.h"

namespace sallyport::test {

// Returns the report as text for comparison: `ok` or `<check> at <sequence>`.
std::string verdict(ledger::LedgerStore& store, const std::optional<std::string>& since = {},
                    const std::optional<ledger::VerifierKey>& pinned = {});

struct Seen {
  json::value entry;
  json::value body;  // opened
  ledger::StoredEntry stored;
};
std::vector<Seen> all_entries(ledger::LedgerStore& store);

// Returns the opened bodies of control entries with this name.
std::vector<json::object> controls(ledger::LedgerStore& store, std::string_view name);

std::string newest_checkpoint(ledger::LedgerStore& store);
std::string receipt_of(ledger::LedgerStore& store, std::uint64_t sequence, bool openings = true);

// Returns the files under `folder` whose bytes contain `text`.
std::vector<std::string> files_with(const std::filesystem::path& folder, std::string_view text);

}  // namespace sallyport::test
