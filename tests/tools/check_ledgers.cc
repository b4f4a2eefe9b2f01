// check_ledgers: reads paths of data folders from standard input, one a line, and writes the
// `ledger verify` report of each, for tests that verify hundreds of them.
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "ledger/proof/verify.h"
#include "ledger/secret/key_folder.h"
#include "workspace/workspace.h"

namespace {

using namespace sallyport;

ledger::LedgerReport report_on(const std::string& folder) {
  ledger::LedgerReport report;
  const auto secret = ledger::KeyFolder::kept_digest_key(folder);
  const auto workspace = app::Workspace::open_reading({.data_dir = folder});
  if (!secret || !*secret || !workspace) {
    report.first_bad = ledger::Fault{
        0, "storage", workspace ? "the secret cannot be read" : workspace.error().message};
    return report;
  }
  const KeyedDigest digest(**secret);
  return ledger::verify_ledger((*workspace)->store(), {}, {}, 2, &digest);
}

}  // namespace

int main() {
  for (std::string folder; std::getline(std::cin, folder);) {
    std::cout << canonical_json(report_on(folder).to_json()) << std::endl;
  }
  return 0;
}
