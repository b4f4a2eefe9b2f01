#include "ledger/proof/note.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <sodium.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/try.h"

namespace sallyport::ledger {

namespace {

constexpr std::size_t kMaxNoteBytes = 16 * 1024 * 1024;
constexpr std::size_t kMaxSignatures = 64;
constexpr std::string_view kDash = "\u2014 ";
constexpr std::size_t kTimeBytes = 8;  // before an Ed25519 cosignature, big-endian

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

char type_byte(KeyType type) {
  return static_cast<char>(type);
}

std::array<std::uint8_t, 4> key_id(std::string_view name,
                                   const std::array<std::uint8_t, 32>& public_key, KeyType type) {
  const char byte = type_byte(type);
  const Hash hash = sha256({name, "\n", std::string_view(&byte, 1), as_text(public_key)});
  return {hash[0], hash[1], hash[2], hash[3]};
}

// The white space of Unicode beyond ASCII, which a signed note's key name may not hold either.
bool has_unicode_space(std::string_view text) {
  constexpr std::string_view kSpaces[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001",
                                          "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                          "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                          "\u2029", "\u202f", "\u205f", "\u3000"};
  return std::ranges::any_of(kSpaces, [&](std::string_view space) { return text.contains(space); });
}

bool valid_name(std::string_view name) {
  if (name.empty() || !simdjson::validate_utf8(name.data(), name.size())) return false;
  if (has_unicode_space(name)) return false;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == '+' || c == 0x7f) return false;
  }
  return true;
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// name+hhhhhhhh+base64(type + 32 bytes), where the bytes are a public key or a seed.
struct KeyText {
  std::string name;
  std::array<std::uint8_t, 4> id{};
  std::array<std::uint8_t, 32> bytes{};
};

Result<KeyText> parse_key_text(std::string_view text, KeyType type) {
  const std::size_t first = text.find('+');
  const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
  if (second == std::string_view::npos) {
    return malformed("a key has the form name+hhhhhhhh+base64");
  }
  KeyText key{.name = std::string(text.substr(0, first))};
  if (!valid_name(key.name))
    return malformed("a key name has no blanks, `+` or control characters");
  const auto id = from_hex(text.substr(first + 1, second - first - 1));
  if (!id || id->size() != key.id.size())
    return malformed("a key id is eight lower-case hex digits");
  const auto bytes = from_base64(text.substr(second + 1));
  if (!bytes || bytes->empty()) return malformed("key bytes are not canonical base64");
  if (bytes->front() != type_byte(type)) {
    return malformed(type == KeyType::Note
                         ? "only Ed25519 keys (type 1) are known"
                         : "only keys of Ed25519 cosignatures (type 4) are known for a witness");
  }
  if (bytes->size() != 33) return malformed("key bytes are the base64 of 33 bytes");
  std::copy(id->begin(), id->end(), key.id.begin());
  std::copy(bytes->begin() + 1, bytes->end(), key.bytes.begin());
  return key;
}

Result<std::vector<NoteSignature>> parse_signatures(std::string_view lines) {
  if (lines.empty()) return malformed("no signature");
  std::vector<NoteSignature> signatures;
  while (!lines.empty()) {
    std::string_view line = take_line(lines);
    if (!line.starts_with(kDash))
      return malformed("a signature line begins with U+2014 and a blank");
    line.remove_prefix(kDash.size());
    const std::size_t gap = line.find(' ');
    if (gap == std::string_view::npos || !valid_name(line.substr(0, gap))) {
      return malformed("a signature line has a key name and a signature");
    }
    const auto signature = from_base64(line.substr(gap + 1));
    if (!signature || signature->size() <= 4)
      return malformed("a signature is not canonical base64");
    if (signatures.size() == kMaxSignatures) return malformed("more than 64 signatures");
    NoteSignature parsed{.name = std::string(line.substr(0, gap)),
                         .signature = signature->substr(4)};
    std::copy_n(signature->begin(), 4, parsed.key_id.begin());
    signatures.push_back(std::move(parsed));
  }
  return signatures;
}

}  // namespace

Result<VerifierKey> VerifierKey::parse(std::string_view text, KeyType type) {
  SALLYPORT_TRY(KeyText key, parse_key_text(text, type));
  if (key.id != key_id(key.name, key.bytes, type)) {
    return malformed("the key id does not belong to this name and key");
  }
  return VerifierKey{std::move(key.name), key.id, key.bytes, type};
}

std::string VerifierKey::text() const {
  std::string typed(1, type_byte(type));
  typed += as_text(public_key);
  return fmt::format("{}+{}+{}", name, hex(id), base64(as_bytes(typed)));
}

SigningKey SigningKey::from_seed(std::string name, const std::array<std::uint8_t, 32>& seed) {
  SigningKey key;
  key.seed_ = seed;
  crypto_sign_seed_keypair(key.verifier_.public_key.data(), key.expanded_.data(), seed.data());
  key.verifier_.name = std::move(name);
  key.verifier_.id = key_id(key.verifier_.name, key.verifier_.public_key, KeyType::Note);
  return key;
}

SigningKey SigningKey::generate(std::string name, Entropy& entropy) {
  std::array<std::uint8_t, 32> seed;
  entropy.fill(seed);
  SigningKey key = from_seed(std::move(name), seed);
  sodium_memzero(seed.data(), seed.size());
  return key;
}

Result<SigningKey> SigningKey::parse(std::string_view file_text) {
  constexpr std::string_view kPrefix = "PRIVATE+KEY+";
  if (file_text.ends_with('\n')) file_text.remove_suffix(1);
  if (!file_text.starts_with(kPrefix)) {
    return malformed("a private key file holds one line PRIVATE+KEY+name+hhhhhhhh+base64");
  }
  SALLYPORT_TRY(KeyText text, parse_key_text(file_text.substr(kPrefix.size()), KeyType::Note));
  SigningKey key = from_seed(text.name, text.bytes);
  sodium_memzero(text.bytes.data(), text.bytes.size());
  if (key.verifier_.id != text.id)
    return malformed("the key id does not belong to this private key");
  return key;
}

SigningKey::~SigningKey() {
  sodium_memzero(seed_.data(), seed_.size());
  sodium_memzero(expanded_.data(), expanded_.size());
}

std::string SigningKey::file_text() const {
  std::string typed(1, type_byte(KeyType::Note));
  typed += as_text(seed_);
  return fmt::format("PRIVATE+KEY+{}+{}+{}\n", verifier_.name, hex(verifier_.id),
                     base64(as_bytes(typed)));
}

std::array<std::uint8_t, 64> SigningKey::sign(std::string_view message) const {
  std::array<std::uint8_t, 64> signature;
  crypto_sign_detached(signature.data(), nullptr, as_bytes(message).data(), message.size(),
                       expanded_.data());
  return signature;
}

Result<Note> Note::parse(std::string_view bytes) {
  if (bytes.size() > kMaxNoteBytes) return malformed("a note is at most 16 MiB");
  if (!simdjson::validate_utf8(bytes.data(), bytes.size())) return malformed("not valid UTF-8");
  for (const char c : bytes) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) {
      return malformed("a note holds no control character but LF");
    }
  }
  const std::size_t blank = bytes.rfind("\n\n");
  if (blank == std::string_view::npos) return malformed("no empty line before the signatures");
  if (!bytes.ends_with('\n')) return malformed("the last LF is missing");
  Note note{.text = std::string(bytes.substr(0, blank + 1))};
  SALLYPORT_TRY(note.signatures, parse_signatures(bytes.substr(blank + 2)));
  return note;
}

std::string signature_line(const NoteSignature& signature) {
  std::string bytes(as_text(signature.key_id));
  bytes += signature.signature;
  return fmt::format("{}{} {}\n", kDash, signature.name, base64(as_bytes(bytes)));
}

Result<Checkpoint> Checkpoint::parse(std::string_view note_text) {
  if (!note_text.ends_with('\n')) return malformed("the last LF is missing");
  std::string_view rest = note_text;
  Checkpoint checkpoint{.origin = std::string(take_line(rest))};
  if (checkpoint.origin.empty()) return malformed("no origin");
  const std::string_view size = take_line(rest);
  const auto read = std::from_chars(size.data(), size.data() + size.size(), checkpoint.size);
  if (read.ec != std::errc{} || read.ptr != size.data() + size.size() ||
      (size.size() > 1 && size.front() == '0')) {
    return malformed(fmt::format("`{:.40}` is not a tree size", size));
  }
  const auto root = from_base64(take_line(rest));
  if (!root || root->size() != checkpoint.root.size()) {
    return malformed("the root hash is not the base64 of 32 bytes");
  }
  std::copy(root->begin(), root->end(), checkpoint.root.begin());
  return checkpoint;
}

std::string Checkpoint::text() const {
  return fmt::format("{}\n{}\n{}\n", origin, size, base64(root));
}

std::string Checkpoint::sign(const std::vector<const Signer*>& signers) const {
  const std::string signed_text = text();
  std::string note = signed_text + "\n";
  for (const Signer* signer : signers) {
    const VerifierKey& verifier = signer->verifier();
    note += signature_line(
        {verifier.name, verifier.id, std::string(as_text(signer->sign(signed_text)))});
  }
  return note;
}

namespace {

bool is_signed(std::string_view message, std::string_view signature, const VerifierKey& key) {
  return signature.size() == crypto_sign_BYTES &&
         crypto_sign_verify_detached(as_bytes(signature).data(), as_bytes(message).data(),
                                     message.size(), key.public_key.data()) == 0;
}

// The time is before the signature and in the signed message.
bool is_cosigned(std::string_view text, std::string_view stamped, const VerifierKey& key) {
  if (stamped.size() < kTimeBytes) return false;
  std::uint64_t time = 0;
  for (const char byte : stamped.substr(0, kTimeBytes)) {
    time = time << 8 | static_cast<unsigned char>(byte);
  }
  if (time == 0 || time > static_cast<std::uint64_t>(INT64_MAX)) return false;
  return is_signed(fmt::format("cosignature/v1\ntime {}\n{}", time, text),
                   stamped.substr(kTimeBytes), key);
}

}  // namespace

NoteTrust verify_note(const Note& note, const VerifierKey& key) {
  bool found = false;
  for (const NoteSignature& line : note.signatures) {
    if (line.name != key.name || line.key_id != key.id) continue;
    const bool good = key.type == KeyType::Note ? is_signed(note.text, line.signature, key)
                                                : is_cosigned(note.text, line.signature, key);
    if (!good) return NoteTrust::BadSignature;
    found = true;
  }
  return found ? NoteTrust::Signed : NoteTrust::NoSuchKey;
}

Result<void> check_origin(std::string_view origin) {
  if (valid_name(origin)) return {};
  return malformed(
      fmt::format("origin `{:.80}` may hold no blank, no `+` and no control character", origin));
}

}  // namespace sallyport::ledger
