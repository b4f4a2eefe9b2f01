// JSON Lines exports from any source give a report, never a crash.
#include <cstdint>
#include <sstream>

#include "base/try.h"
#include "ledger/proof/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport::ledger;
  static const VerifierKey key = *VerifierKey::parse(
      "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4");
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  const LedgerReport report = verify_export(lines, key);
  SALLYPORT_INVARIANT(report.ok != report.first_bad.has_value());
  return 0;
}
