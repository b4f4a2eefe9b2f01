// Reads the messages of an authenticator strictly (WebAuthn level 2): the credential that it made,
// and the assertion with which it signs. No attestation is read: the reviewer's own key vouches for
// a credential (CO-19).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::trust {

// The values that the page must have requested.
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

// Reads the result of `navigator.credentials.create`. `Unauthenticated`: an item is wrong; each has
// its own cause. `InvalidInput`: the bytes are not such a message.
Result<NewCredential> new_credential(std::string_view client_data,
                                     std::string_view authenticator_data, const Ceremony& asked);

// The result of `navigator.credentials.get`, each member as bytes.
struct Assertion {
  static constexpr std::string_view kMark = "webauthn:";

  std::string credential_id{};
  std::string authenticator_data{};
  std::string client_data{};
  std::string signature{};

  // The text begins with `webauthn:` (CO-20). `InvalidInput`: it has another form.
  static Result<Assertion> parse(std::string_view text);
  std::string text() const;
};

// Checks everything but the owner of the credential (CO-21). Errors are those of `new_credential`.
Result<void> check_assertion(const Assertion& assertion, const CredentialKey& key,
                             const Ceremony& asked);

// The 32 bytes of the Ed25519 key in such an SPKI. No value: it is another kind of key.
std::optional<std::string> ed25519_in(std::string_view spki);

}  // namespace sallyport::trust
