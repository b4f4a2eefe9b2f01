#include <fmt/format.h>

#include "base/try.h"
#include "bench/bench.h"
#include "bench/bench_ledger.h"
#include "ledger/proof/key_history.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/verify.h"

namespace sallyport::bench {

void measure_verification(Report& report, bool quick) {
  report.section("verification");
  BenchLedger ledger(Keep::OnDisk);
  const std::size_t count = quick ? 10240 : 256000;
  ledger.append(count, 256);
  for (const unsigned threads : {1u, 2u}) {
    ledger::LedgerReport checked;
    const double seconds =
        seconds_of([&] { checked = ledger::verify_ledger(ledger.store(), {}, {}, threads); });
    SALLYPORT_INVARIANT(checked.ok);
    report.row(fmt::format("ledger verify, {} thread{}", threads, threads == 1 ? "" : "s"),
               fmt::format("{:.0f} records/s", static_cast<double>(checked.tree_size) / seconds),
               threads == 2 ? "(goal: 200,000)" : "");
  }
  std::vector<std::string> receipts;
  std::optional<ledger::VerifierKey> key;
  (void)ledger.store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const auto keys, ledger::key_history(view));
    key = keys.back().key;
    for (std::uint64_t n = 0; n < 500; ++n) {
      SALLYPORT_TRY(const ledger::Receipt receipt,
                    ledger::make_receipt(view, 2 + n * (count / 500), true));
      receipts.push_back(receipt.json());
    }
    return {};
  });
  const double seconds = seconds_of([&] {
    for (const std::string& receipt : receipts) {
      SALLYPORT_INVARIANT(ledger::verify_receipt(receipt, {.key = *key}).ok);
    }
  });
  report.row("receipts verified, one thread",
             fmt::format("{:.0f}/s", static_cast<double>(receipts.size()) / seconds));
}

}  // namespace sallyport::bench
