// Keys that reviewers have enrolled beside the one that is registered: passkeys, and keys of
// browsers. Each counts because the registered key, or a passkey that counted then, signed for it
// (CO-19). So the chain from the policy to an answer can be checked from the log alone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trust/control.h"
#include "trust/webauthn.h"

namespace sallyport::trust {

struct Enrolment {
  std::string reviewer{};
  std::string credential_id{};  // base64url, as are the keys; of a browser key the digest of it
  std::string public_key{};     // SPKI
  std::string alg{};            // ES256, EdDSA
  std::string rp_id{};          // empty: a key of a browser
  std::string origin{};
  std::string ledger{};      // the checkpoint origin
  std::string at{};          // RFC 3339
  std::string signature{};   // `ed25519:` of the registered key, or `webauthn:`
  std::string removed_at{};  // empty: it counts

  bool is_passkey() const { return !rp_id.empty(); }
  bool counts() const { return removed_at.empty(); }
  CredentialKey key() const;

  // The members that are signed, and their bytes.
  json::object statement() const;
  std::string statement_text() const;
  // The form of a fact, and back. `Corrupt`: not an enrolment.
  std::string text() const;
  static Result<Enrolment> parse(std::string_view text);
  // Reads the members of a statement alone. `InvalidInput` names the wrong one.
  static Result<Enrolment> from_statement(const json::object& statement);
};

// Reads texts of facts. An unreadable text is not an enrolment.
std::vector<Enrolment> enrolments_in(std::span<const std::string> texts);
// Null: none has this id.
const Enrolment* find_enrolment(std::span<const Enrolment> all, std::string_view credential_id);

// Checks that this person's registered key, or a passkey of `all` that leads back to it, signed it.
// Whether such a passkey still counts makes no difference: it did when it signed.
Result<void> check_enrolment(const Enrolment& enrolment, std::span<const Enrolment> all,
                             const PublicKey& key);

// Checks that a passkey of this person that counts signed these bytes (CO-20, CO-21).
// `Unauthenticated` with the cause.
Result<void> check_passkey(const Reviewer& person, std::string_view statement,
                           std::string_view signature, std::span<const Enrolment> all);

// True if a valid browser key of this person signed these bytes (CO-22).
bool is_of_browser_key(const Reviewer& person, std::string_view statement,
                       std::string_view signature, std::span<const Enrolment> all);

}  // namespace sallyport::trust
