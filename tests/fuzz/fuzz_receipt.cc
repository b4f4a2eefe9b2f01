// Receipts and consistency proofs from any source: an answer, never a crash, and only signed data
// verifies.
#include <cstdint>
#include <string_view>

#include "base/try.h"
#include "ledger/proof/receipt.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  using namespace sallyport::ledger;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const Trust trust{
      .key = *VerifierKey::parse(
          "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4")};
  const Verification answer = verify_receipt(text, trust);
  SALLYPORT_INVARIANT(!answer.step.empty());
  if (const Result<Receipt> receipt = Receipt::parse(text)) {
    const Result<Receipt> again = Receipt::parse(receipt->json());
    SALLYPORT_INVARIANT(again && again->json() == receipt->json());
    (void)receipt->tlog_proof();
  }
  (void)verify_consistency(text, text, text, trust);
  (void)unpack_openings(text);
  return 0;
}
