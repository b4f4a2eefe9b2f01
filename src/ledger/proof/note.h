// Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint) with Ed25519 keys.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/entropy.h"
#include "sallyport/result.h"

namespace sallyport::ledger {

// What an Ed25519 key signs: notes themselves, or notes together with the time (C2SP
// tlog-cosignature). The value is the type byte of the key.
enum class KeyType : std::uint8_t { Note = 1, Cosignature = 4 };

// `name+hhhhhhhh+base64(type + public key)`.
struct VerifierKey {
  std::string name;
  std::array<std::uint8_t, 4> id{};
  std::array<std::uint8_t, 32> public_key{};
  KeyType type = KeyType::Note;

  static Result<VerifierKey> parse(std::string_view text, KeyType type = KeyType::Note);
  std::string text() const;
  bool operator==(const VerifierKey&) const = default;
};

// Signs notes with one key. Its users need not know where the key is stored.
class Signer {
 public:
  virtual ~Signer() = default;
  virtual const VerifierKey& verifier() const = 0;
  virtual std::array<std::uint8_t, 64> sign(std::string_view message) const = 0;
};

// Holds the seed and signs. It wipes the seed when it is destroyed, and has no text() except that
// of the key file. It is moved and never copied: one object has the key.
class SigningKey final : public Signer {
 public:
  static SigningKey generate(std::string name, Entropy& entropy);
  static SigningKey from_seed(std::string name, const std::array<std::uint8_t, 32>& seed);
  static Result<SigningKey> parse(std::string_view file_text);
  SigningKey(SigningKey&&) = default;
  SigningKey& operator=(SigningKey&&) = delete;
  ~SigningKey() override;

  const VerifierKey& verifier() const override { return verifier_; }
  std::array<std::uint8_t, 64> sign(std::string_view message) const override;
  std::string file_text() const;

 private:
  SigningKey() = default;
  VerifierKey verifier_;
  std::array<std::uint8_t, 32> seed_{};
  std::array<std::uint8_t, 64> expanded_{};
};

struct NoteSignature {
  std::string name;
  std::array<std::uint8_t, 4> key_id{};
  std::string signature;

  bool operator==(const NoteSignature&) const = default;
};

// The text with its last LF, and the signatures under it.
struct Note {
  std::string text;
  std::vector<NoteSignature> signatures;

  // Refuses what LE-78 lists. Does not verify anything.
  static Result<Note> parse(std::string_view bytes);
};

// The line of a note, with its LF.
std::string signature_line(const NoteSignature& signature);

struct Checkpoint {
  std::string origin;
  std::uint64_t size = 0;
  Hash root{};

  // Extension lines of others' notes are skipped (LE-79).
  static Result<Checkpoint> parse(std::string_view note_text);
  std::string text() const;
  std::string sign(const std::vector<const Signer*>& signers) const;
  bool operator==(const Checkpoint&) const = default;
};

enum class NoteTrust { Signed, NoSuchKey, BadSignature };

// Lines by other keys are ignored; one line with the pinned name and id that does not verify is
// bad, even beside a good one. A cosignature without a time is bad.
NoteTrust verify_note(const Note& note, const VerifierKey& key);

// An origin that may be written: no blank, no `+`, no control character, not empty.
Result<void> check_origin(std::string_view origin);

}  // namespace sallyport::ledger
