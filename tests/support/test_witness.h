// A witness with its own key, for tests that need cosignatures and no server.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/digest.h"
#include "base/encoding.h"
#include "ledger/proof/note.h"

namespace sallyport::test {

class TestWitness {
 public:
  explicit TestWitness(std::string name, std::uint8_t seed = 1)
      : key_(ledger::SigningKey::from_seed(name, {seed})), verifier_(key_.verifier()) {
    const Hash hash = sha256({name, "\n\x04", as_text(verifier_.public_key)});
    std::copy_n(hash.begin(), 4, verifier_.id.begin());
    verifier_.type = ledger::KeyType::Cosignature;
  }

  const ledger::VerifierKey& verifier() const { return verifier_; }

  // Signs the text of a note, without the signatures of the note.
  ledger::NoteSignature cosign(std::string_view text, std::uint64_t time = 1'700'000'000) const {
    std::string stamped;
    for (int shift = 56; shift >= 0; shift -= 8) stamped += static_cast<char>(time >> shift);
    const std::string message = fmt::format("cosignature/v1\ntime {}\n{}", time, text);
    stamped += as_text(key_.sign(message));
    return {verifier_.name, verifier_.id, std::move(stamped)};
  }

 private:
  ledger::SigningKey key_;
  ledger::VerifierKey verifier_;
};

}  // namespace sallyport::test
