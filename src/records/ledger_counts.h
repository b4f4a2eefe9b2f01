// Counts of the entries of a ledger, for `ledger stats` and the HTTP API.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ledger/store.h"
#include "sallyport/json.h"

namespace sallyport::app {

using Counts = std::map<std::string, std::uint64_t>;

struct LedgerCounts {
  std::uint64_t size = 0;
  std::string first_at{};
  std::string last_at{};
  std::string key{};
  std::uint64_t ledger_bytes = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t calls = 0;                               // that have ended
  std::vector<std::pair<std::string, Counts>> groups{};  // kinds, outcomes, tools, agents
};
json::object to_json(const LedgerCounts& counts);

Result<LedgerCounts> ledger_counts(ledger::ReadView& view, const std::filesystem::path& file);

}  // namespace sallyport::app
