// What an authenticator says when a person touches it (WebAuthn level 2), read strictly: the
// credential that it made, and the assertion with which it signs. No attestation is read: the
// reviewer's own key vouches for a credential (CO-19).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::trust {

// What a page must have asked for, and where.
struct Ceremony {
  std::string challenge{};  // the bytes
  std::string origin{};     // with its port
  std::string rp_id{};
};

// A public key as an enrolment names it.
struct CredentialKey {
  std::string alg{};   // `ES256` or `EdDSA`
  std::string spki{};  // DER
};

struct NewCredential {
  std::string id{};  // the bytes
  CredentialKey key{};
};

// Of `navigator.credentials.create`. `Unauthenticated`: an item is wrong; each has its own cause.
// `InvalidInput`: the bytes are not such a message.
Result<NewCredential> new_credential(std::string_view client_data,
                                     std::string_view authenticator_data, const Ceremony& asked);

// Of `navigator.credentials.get`, each member as bytes.
struct Assertion {
  static constexpr std::string_view kMark = "webauthn:";

  std::string credential_id{};
  std::string authenticator_data{};
  std::string client_data{};
  std::string signature{};

  // `webauthn:` and what follows (CO-20). `InvalidInput`: it is not in that one form.
  static Result<Assertion> parse(std::string_view text);
  std::string text() const;
};

// Everything but who the credential belongs to (CO-21). Errors are those of `new_credential`.
Result<void> check_assertion(const Assertion& assertion, const CredentialKey& key,
                             const Ceremony& asked);

// The 32 bytes of the Ed25519 key in such an SPKI. No value: it is another kind of key.
std::optional<std::string> ed25519_in(std::string_view spki);

}  // namespace sallyport::trust
