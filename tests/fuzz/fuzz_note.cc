// Notes, checkpoints and keys from any source are refused, or understood and written unchanged.
#include <cstdint>
#include <string_view>

#include "base/try.h"
#include "ledger/proof/note.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  using namespace sallyport::ledger;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const VerifierKey key = *VerifierKey::parse(
      "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4");
  if (const Result<Note> note = Note::parse(text)) {
    (void)verify_note(*note, key);
    if (const Result<Checkpoint> checkpoint = Checkpoint::parse(note->text)) {
      SALLYPORT_INVARIANT(note->text.starts_with(checkpoint->text()));
    }
  }
  if (const Result<VerifierKey> parsed = VerifierKey::parse(text)) {
    SALLYPORT_INVARIANT(parsed->text() == text);
  }
  (void)SigningKey::parse(text);
  return 0;
}
