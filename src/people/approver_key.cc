#include "people/approver_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/encoding.h"
#include "base/object_reader.h"
#include "base/try.h"
#include "ledger/secret/private_file.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

constexpr std::string_view kSchema = "sallyport.approver_key.v1";
constexpr std::size_t kShortest = 8;
constexpr std::size_t kLongest = 1024;

using BoxKey = std::array<std::uint8_t, crypto_secretbox_KEYBYTES>;

// Parameters of the key derivation. Kept in the file, so that the cost can be raised later.
struct Stretching {
  std::uint64_t operations = 3;
  std::uint64_t memory = 64u << 20;
  std::array<std::uint8_t, crypto_pwhash_SALTBYTES> salt{};

  Result<BoxKey> stretch(std::string_view passphrase) const {
    constexpr std::uint64_t kMostOperations = 20;
    constexpr std::uint64_t kMostMemory = 1u << 30;
    BoxKey key;
    if (operations > kMostOperations || memory > kMostMemory ||
        crypto_pwhash(key.data(), key.size(), passphrase.data(), passphrase.size(), salt.data(),
                      operations, memory, crypto_pwhash_ALG_ARGON2ID13) != 0) {
      return fail(ErrorCode::Exhausted, "there is not enough memory to open the approver key");
    }
    return key;
  }
};

struct SealedKey {
  std::string name;
  std::string key;
  Stretching stretching;
  std::string box;  // nonce, then what it seals: the seed and the name
};

std::string file_text(const SealedKey& sealed) {
  return canonical_json(
             json::object{{"schema", kSchema},
                          {"name", sealed.name},
                          {"key", sealed.key},
                          {"kdf", json::object{{"algorithm", "argon2id13"},
                                               {"operations", sealed.stretching.operations},
                                               {"memory", sealed.stretching.memory},
                                               {"salt", base64(sealed.stretching.salt)}}},
                          {"box", base64(as_bytes(sealed.box))}}) +
         "\n";
}

Result<SealedKey> read_sealed(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::optional<std::string> text, ledger::read_private_file(file));
  if (!text) {
    return fail(ErrorCode::NotFound,
                "there is no approver key, `sallyport approvals init` makes one", file.string());
  }
  SALLYPORT_TRY(const json::value value, parse_own_json(*text));
  ObjectReader in(value, "approver key");
  in.word("schema", {kSchema});
  SealedKey sealed{.name = in.text("name"), .key = in.text("key")};
  ObjectReader kdf(in.object("kdf"), "approver key.kdf");
  kdf.word("algorithm", {"argon2id13"});
  sealed.stretching.operations = kdf.number("operations");
  sealed.stretching.memory = kdf.number("memory");
  const std::string salt = from_base64(kdf.text("salt")).value_or("");
  sealed.box = from_base64(in.text("box")).value_or("");
  if (!kdf.ok()) in.take(kdf.error());
  if (in.ok() && salt.size() != sealed.stretching.salt.size()) in.refuse("kdf.salt", "is wrong");
  if (in.ok() && sealed.box.size() < crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES) {
    in.refuse("box", "is too short");
  }
  if (!in.ok()) return fail(ErrorCode::Corrupt, in.error().message, file.string());
  std::ranges::copy(salt, sealed.stretching.salt.begin());
  return sealed;
}

std::string seal(const BoxKey& key, std::string_view text, Entropy& entropy) {
  std::array<std::uint8_t, crypto_secretbox_NONCEBYTES> nonce;
  entropy.fill(nonce);
  std::string box(crypto_secretbox_MACBYTES + text.size(), '\0');
  crypto_secretbox_easy(reinterpret_cast<std::uint8_t*>(box.data()), as_bytes(text).data(),
                        text.size(), nonce.data(), key.data());
  return std::string(as_text(nonce)) + box;
}

std::optional<std::string> unseal(const BoxKey& key, std::string_view box) {
  const std::string_view sealed = box.substr(crypto_secretbox_NONCEBYTES);
  std::string text(sealed.size() - crypto_secretbox_MACBYTES, '\0');
  const int opened = crypto_secretbox_open_easy(reinterpret_cast<std::uint8_t*>(text.data()),
                                                as_bytes(sealed).data(), sealed.size(),
                                                as_bytes(box).data(), key.data());
  return opened == 0 ? std::optional(std::move(text)) : std::nullopt;
}

Result<std::string> checked(std::string passphrase) {
  if (passphrase.size() < kShortest || passphrase.size() > kLongest) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("a passphrase has {} to {} bytes", kShortest, kLongest));
  }
  return passphrase;
}

// Turns the echo of a terminal off for as long as it lives.
class Silence {
 public:
  explicit Silence(int terminal) : terminal_(terminal) {
    if (tcgetattr(terminal_, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    silent_ = tcsetattr(terminal_, TCSAFLUSH, &quiet) == 0;
  }
  Silence(const Silence&) = delete;
  ~Silence() {
    if (silent_) tcsetattr(terminal_, TCSAFLUSH, &before_);
  }

 private:
  int terminal_;
  termios before_{};
  bool silent_ = false;
};

Result<std::string> ask_terminal(std::string_view prompt) {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal < 0) {
    return fail(ErrorCode::InvalidInput,
                "there is no terminal to ask for the passphrase, give --passphrase-file");
  }
  std::string line;
  {
    const Silence silence(terminal);
    (void)!::write(terminal, prompt.data(), prompt.size());
    char c = '\0';
    while (line.size() <= kLongest && ::read(terminal, &c, 1) == 1 && c != '\n') line += c;
    (void)!::write(terminal, "\n", 1);
  }
  ::close(terminal);
  return line;
}

}  // namespace

ApproverKey::ApproverKey(std::string name, const std::array<std::uint8_t, 32>& seed)
    : name_(std::move(name)) {
  crypto_sign_ed25519_seed_keypair(key_.data(), secret_.data(), seed.data());
}

ApproverKey::~ApproverKey() {
  sodium_memzero(secret_.data(), secret_.size());
}

Result<ApproverKey> ApproverKey::create(const std::filesystem::path& file, std::string name,
                                        std::string_view passphrase, Entropy& entropy) {
  SALLYPORT_TRY(const std::string words, checked(std::string(passphrase)));
  if (name.empty() || name.size() > 200 || !is_utf8(name)) {
    return fail(ErrorCode::InvalidInput, "a name has 1 to 200 bytes of UTF-8");
  }
  std::array<std::uint8_t, 32> seed;
  entropy.fill(seed);
  ApproverKey key(name, seed);
  SealedKey sealed{.name = name, .key = trust::key_text(key.key()), .stretching = {}, .box = {}};
  entropy.fill(sealed.stretching.salt);
  SALLYPORT_TRY(const BoxKey box_key, sealed.stretching.stretch(words));
  std::string text(as_text(seed));
  text += name;
  sealed.box = seal(box_key, text, entropy);
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(text.data(), text.size());
  SALLYPORT_CHECK_OK(ledger::make_private_folder(file.parent_path()));
  SALLYPORT_TRY(const bool made, ledger::create_private_file(file, file_text(sealed)));
  if (made) return key;
  return fail(ErrorCode::Conflict, "there is an approver key already, remove it first",
              file.string());
}

Result<ApproverKey> ApproverKey::open(const std::filesystem::path& file,
                                      std::string_view passphrase) {
  SALLYPORT_TRY(const SealedKey sealed, read_sealed(file));
  SALLYPORT_TRY(const BoxKey box_key, sealed.stretching.stretch(passphrase));
  std::optional<std::string> text = unseal(box_key, sealed.box);
  const auto refuse = [&] {
    return fail(ErrorCode::Unauthenticated,
                "the approver key does not open with this passphrase, or was changed",
                file.string());
  };
  std::array<std::uint8_t, 32> seed;
  if (!text || text->size() <= seed.size()) return refuse();
  std::copy_n(text->begin(), seed.size(), seed.begin());
  ApproverKey key(text->substr(seed.size()), seed);
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(text->data(), text->size());
  if (key.name() != sealed.name || trust::key_text(key.key()) != sealed.key) return refuse();
  return key;
}

std::string ApproverKey::sign(std::string_view message) const {
  std::array<std::uint8_t, 64> signature;
  crypto_sign_ed25519_detached(signature.data(), nullptr, as_bytes(message).data(), message.size(),
                               secret_.data());
  return "ed25519:" + base64(signature);
}

Result<std::string> approver_name(const std::filesystem::path& file) {
  SALLYPORT_TRY(SealedKey sealed, read_sealed(file));
  return std::move(sealed.name);
}

std::filesystem::path approver_key_file(const std::filesystem::path& data_dir,
                                        std::string_view name) {
  std::string safe(name);
  for (char& c : safe) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '-';
  }
  return data_dir / "approvers" / (safe + ".key");
}

Result<std::filesystem::path> find_approver_key(const std::filesystem::path& data_dir,
                                                const std::optional<std::filesystem::path>& named) {
  if (named) {
    SALLYPORT_CHECK_OK(refuse_folder(*named));
    return *named;
  }
  std::vector<std::filesystem::path> keys;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(data_dir / "approvers", code)) {
    if (entry.path().extension() == ".key") keys.push_back(entry.path());
  }
  if (keys.size() == 1) return keys.front();
  if (keys.empty()) {
    return fail(ErrorCode::NotFound,
                "there is no approver key; `sallyport approvals init` makes one");
  }
  std::ranges::sort(keys);
  std::string names;
  for (const auto& key : keys) names += (names.empty() ? "" : ", ") + key.string();
  return fail(ErrorCode::InvalidInput,
              fmt::format("there are several approver keys; name one by --key-file: {}", names));
}

Result<std::string> read_passphrase(int descriptor) {
  std::string line;
  char c = '\0';
  while (line.size() <= kLongest && ::read(descriptor, &c, 1) == 1 && c != '\n') line += c;
  return checked(std::move(line));
}

Result<std::string> read_passphrase(const std::optional<std::filesystem::path>& file,
                                    std::string_view prompt) {
  if (!file) {
    SALLYPORT_TRY(std::string typed, ask_terminal(prompt));
    return checked(std::move(typed));
  }
  SALLYPORT_TRY(const std::optional<std::string> text, ledger::read_private_file(*file));
  if (!text) return fail(ErrorCode::NotFound, "there is no such file", file->string());
  return checked(text->substr(0, text->find('\n')));
}

}  // namespace sallyport::app
