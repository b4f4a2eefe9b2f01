#include "trust/webauthn.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <boost/json.hpp>
#include <memory>

#include "base/base64url.h"
#include "base/digest.h"
#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::trust {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kLongestClientData = 4096;
constexpr std::size_t kLongestId = 1023;  // of a credential, as WebAuthn bounds it
constexpr std::size_t kLongestData = 4096;
constexpr std::size_t kLongestSignature = 1024;

constexpr std::uint8_t kPresent = 0x01;
constexpr std::uint8_t kVerified = 0x04;
constexpr std::uint8_t kHasCredential = 0x40;
constexpr std::uint8_t kHasExtensions = 0x80;

// A public key in CTAP2's canonical CBOR has one form for each algorithm, so it is compared and not
// parsed: nothing that could nest, repeat or lie about its length is ever read.
constexpr std::string_view kCoseEs256 = "\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"sv;
constexpr std::string_view kCoseEs256Y = "\x22\x58\x20"sv;
constexpr std::string_view kCoseEdDsa = "\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20"sv;
constexpr std::size_t kPart = 32;

constexpr std::string_view kSpkiEs256 =
    "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00\x04"sv;
constexpr std::string_view kSpkiEd25519 = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"sv;

std::unexpected<Error> malformed(std::string what) {
  return fail(ErrorCode::InvalidInput, std::move(what), "signature", "webauthn_form");
}

std::unexpected<Error> wrong(std::string_view cause, std::string message) {
  return fail(ErrorCode::Unauthenticated, std::move(message), {}, std::string(cause));
}

struct AuthenticatorData {
  std::string_view rp_id_hash;
  std::uint8_t flags = 0;
  std::string_view rest;  // behind the counter
};

Result<AuthenticatorData> parse_data(std::string_view bytes) {
  constexpr std::size_t kHash = 32;
  constexpr std::size_t kHead = kHash + 1 + 4;
  if (bytes.size() < kHead || bytes.size() > kLongestData) {
    return malformed("the authenticator data has no such length");
  }
  AuthenticatorData data{.rp_id_hash = bytes.substr(0, kHash),
                         .flags = static_cast<std::uint8_t>(bytes[kHash]),
                         .rest = bytes.substr(kHead)};
  const bool more = (data.flags & (kHasCredential | kHasExtensions)) != 0;
  if (more == data.rest.empty()) return malformed("the authenticator data contradicts its flags");
  return data;
}

Result<void> check_data(const AuthenticatorData& data, const Ceremony& asked) {
  if (data.rp_id_hash != text_of(sha256(asked.rp_id))) {
    return wrong("webauthn_rp_id",
                 fmt::format("the passkey answered for another name than `{:.80}`", asked.rp_id));
  }
  if ((data.flags & kPresent) == 0) {
    return wrong("user_not_present", "the passkey reports that no person touched it");
  }
  if ((data.flags & kVerified) == 0) {
    return wrong("user_not_verified", "the passkey says that it did not verify its person");
  }
  return {};
}

Result<void> check_client(std::string_view text, std::string_view type, const Ceremony& asked) {
  const Result<ParsedJson> parsed =
      parse_json(text, {.bytes = kLongestClientData, .depth = 8, .values = 64});
  const json::object* const client = parsed ? parsed->value.if_object() : nullptr;
  if (client == nullptr) return malformed("the client data is not a JSON object");
  if (text_in(*client, "type") != type) {
    return wrong("webauthn_type", fmt::format("the client data is not of type `{}`", type));
  }
  if (text_in(*client, "challenge") != base64url(asked.challenge)) {
    return wrong("webauthn_challenge", "the passkey signed something else than this");
  }
  if (text_in(*client, "origin") != asked.origin) {
    return wrong("webauthn_origin",
                 fmt::format("the passkey was used on another page than `{:.120}`", asked.origin));
  }
  const json::value* const crossed = client->if_contains("crossOrigin");
  if ((crossed != nullptr && *crossed != json::value(false)) || client->contains("topOrigin")) {
    return wrong("webauthn_origin", "the page that used the passkey was framed by another");
  }
  return {};
}

// Extensions may follow the key and are not used.
std::optional<CredentialKey> cose_key(std::string_view cbor, bool extended) {
  const auto ends = [&](std::size_t size) {
    return extended ? cbor.size() > size : cbor.size() == size;
  };
  const std::size_t y = kCoseEs256.size() + kPart;
  const std::size_t end = y + kCoseEs256Y.size() + kPart;
  if (cbor.starts_with(kCoseEs256) && cbor.size() >= end && ends(end) &&
      cbor.substr(y).starts_with(kCoseEs256Y)) {
    return CredentialKey{"ES256",
                         fmt::format("{}{}{}", kSpkiEs256, cbor.substr(kCoseEs256.size(), kPart),
                                     cbor.substr(y + kCoseEs256Y.size(), kPart))};
  }
  const std::size_t whole = kCoseEdDsa.size() + kPart;
  if (cbor.starts_with(kCoseEdDsa) && cbor.size() >= whole && ends(whole)) {
    return CredentialKey{"EdDSA",
                         fmt::format("{}{}", kSpkiEd25519, cbor.substr(kCoseEdDsa.size(), kPart))};
  }
  return std::nullopt;
}

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, FreeKey>;

// Reads only the two forms that `cose_key` writes. Null: another form, or no point of the curve.
OwnedKey read_key(const CredentialKey& key) {
  const bool es256 = key.alg == "ES256" && key.spki.starts_with(kSpkiEs256) &&
                     key.spki.size() == kSpkiEs256.size() + 2 * kPart;
  const bool eddsa = key.alg == "EdDSA" && ed25519_in(key.spki).has_value();
  if (!es256 && !eddsa) return nullptr;
  const auto* bytes = as_bytes(key.spki).data();
  return OwnedKey(d2i_PUBKEY(nullptr, &bytes, static_cast<long>(key.spki.size())));
}

bool verifies(const CredentialKey& key, std::string_view message, std::string_view signature) {
  const OwnedKey owned = read_key(key);
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  const EVP_MD* const digest = key.alg == "ES256" ? EVP_sha256() : nullptr;
  return owned && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, owned.get()) == 1 &&
         EVP_DigestVerify(context.get(), as_bytes(signature).data(), signature.size(),
                          as_bytes(message).data(), message.size()) == 1;
}

}  // namespace

Result<NewCredential> new_credential(std::string_view client_data,
                                     std::string_view authenticator_data, const Ceremony& asked) {
  SALLYPORT_CHECK_OK(check_client(client_data, "webauthn.create", asked));
  SALLYPORT_TRY(const AuthenticatorData data, parse_data(authenticator_data));
  SALLYPORT_CHECK_OK(check_data(data, asked));
  constexpr std::size_t kModel = 16;
  if ((data.flags & kHasCredential) == 0 || data.rest.size() < kModel + 2) {
    return malformed("the authenticator data names no credential");
  }
  std::string_view rest = data.rest.substr(kModel);
  const std::size_t length = static_cast<std::size_t>(static_cast<std::uint8_t>(rest[0])) << 8 |
                             static_cast<std::uint8_t>(rest[1]);
  rest.remove_prefix(2);
  if (length == 0 || length > kLongestId || length > rest.size()) {
    return malformed("the id of the credential has no such length");
  }
  std::optional<CredentialKey> key =
      cose_key(rest.substr(length), (data.flags & kHasExtensions) != 0);
  if (!key || !read_key(*key)) {
    return malformed("the public key is neither of ES256 nor of EdDSA");
  }
  return NewCredential{std::string(rest.substr(0, length)), std::move(*key)};
}

Result<Assertion> Assertion::parse(std::string_view text) {
  constexpr std::size_t kLongest = 24u << 10;
  if (!text.starts_with(kMark) || text.size() > kLongest) {
    return malformed("a signature of a passkey begins with `webauthn:` and has at most 24 KiB");
  }
  const std::optional<std::string> form = from_base64url(text.substr(kMark.size()));
  if (!form) return malformed("behind `webauthn:` stands unpadded base64url");
  const Result<ParsedJson> parsed =
      parse_json(*form, {.bytes = kLongest, .depth = 2, .values = 16});
  const json::object* const object = parsed ? parsed->value.if_object() : nullptr;
  if (object == nullptr || object->size() != 4 || canonical_json(parsed->value) != *form) {
    return malformed("an assertion is the canonical JSON of its four members");
  }
  const auto bytes = [&](std::string_view name, std::size_t most) -> std::string {
    const std::optional<std::string> read = from_base64url(text_in(*object, name).value_or("="));
    return read && read->size() <= most ? *read : std::string();
  };
  Assertion assertion{.credential_id = bytes("credential_id", kLongestId),
                      .authenticator_data = bytes("authenticator_data", kLongestData),
                      .client_data = bytes("client_data", kLongestClientData),
                      .signature = bytes("signature", kLongestSignature)};
  if (assertion.credential_id.empty() || assertion.authenticator_data.empty() ||
      assertion.client_data.empty() || assertion.signature.empty()) {
    return malformed("an assertion has four members of unpadded base64url");
  }
  return assertion;
}

std::string Assertion::text() const {
  return std::string(kMark) + base64url(canonical_json(json::object{
                                  {"authenticator_data", base64url(authenticator_data)},
                                  {"client_data", base64url(client_data)},
                                  {"credential_id", base64url(credential_id)},
                                  {"signature", base64url(signature)}}));
}

Result<void> check_assertion(const Assertion& assertion, const CredentialKey& key,
                             const Ceremony& asked) {
  SALLYPORT_CHECK_OK(check_client(assertion.client_data, "webauthn.get", asked));
  SALLYPORT_TRY(const AuthenticatorData data, parse_data(assertion.authenticator_data));
  SALLYPORT_CHECK_OK(check_data(data, asked));
  const std::string message =
      fmt::format("{}{}", assertion.authenticator_data, text_of(sha256(assertion.client_data)));
  if (verifies(key, message, assertion.signature)) return {};
  return wrong("webauthn_signature", "the signature is not that of the enrolled passkey");
}

std::optional<std::string> ed25519_in(std::string_view spki) {
  const bool whole = spki.starts_with(kSpkiEd25519) && spki.size() == kSpkiEd25519.size() + kPart;
  return whole ? std::optional(std::string(spki.substr(kSpkiEd25519.size()))) : std::nullopt;
}

}  // namespace sallyport::trust
