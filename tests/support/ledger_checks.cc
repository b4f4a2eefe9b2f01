#include "support/ledger_checks.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::test {

using ledger::ReadView;
using ledger::StoredEntry;

std::string verdict(ledger::LedgerStore& store, const std::optional<std::string>& since,
                    const std::optional<ledger::VerifierKey>& pinned) {
  const ledger::LedgerReport report = ledger::verify_ledger(store, pinned, since, 2);
  if (report.ok) return "ok";
  return report.first_bad->check + " at " + std::to_string(report.first_bad->sequence);
}

std::vector<Seen> all_entries(ledger::LedgerStore& store) {
  std::vector<Seen> seen;
  const Result<void> read = store.read([&](ReadView& view) {
    return view.scan(0, INT64_MAX, [&](const StoredEntry& stored) -> Result<bool> {
      if (!stored.bytes) return true;
      SALLYPORT_TRY(json::value entry, parse_own_json(*stored.bytes));
      SALLYPORT_TRY(const auto openings, ledger::unpack_openings(stored.openings));
      json::value body = ledger::opened_body(entry, openings);
      seen.push_back({std::move(entry), std::move(body), stored});
      return true;
    });
  });
  EXPECT_TRUE(read) << read.error().message;
  return seen;
}

std::vector<json::object> controls(ledger::LedgerStore& store, std::string_view name) {
  std::vector<json::object> found;
  for (const Seen& seen : all_entries(store)) {
    const json::object& body = seen.body.as_object();
    if (seen.entry.at("kind") == json::value("control") && text_in(body, "control") == name) {
      found.push_back(body);
    }
  }
  return found;
}

std::string newest_checkpoint(ledger::LedgerStore& store) {
  std::string note;
  const Result<void> read = store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    SALLYPORT_TRY(const auto last, view.entry(size - 1));
    note = last->checkpoint;
    return {};
  });
  EXPECT_TRUE(read) << read.error().message;
  return note;
}

std::string receipt_of(ledger::LedgerStore& store, std::uint64_t sequence, bool openings) {
  std::string text;
  const Result<void> read = store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const ledger::Receipt receipt, ledger::make_receipt(view, sequence, openings));
    text = receipt.json();
    return {};
  });
  EXPECT_TRUE(read) << read.error().message;
  return text;
}

std::vector<std::string> files_with(const std::filesystem::path& folder, std::string_view text) {
  std::vector<std::string> found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    std::ifstream in(file.path(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    if (content.find(text) != std::string::npos) found.push_back(file.path().filename().string());
  }
  return found;
}

}  // namespace sallyport::test
