// Enrols passkeys and browser keys: a page makes a key, the daemon says what must be signed for it,
// and the reviewer's registered key or an enrolled passkey signs (CO-19). Also identifies a person
// who signs in with a passkey.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/digest.h"
#include "base/entropy.h"
#include "core/record/record_log.h"
#include "daemon/login/api_people.h"
#include "trust/enrolments.h"

namespace sallyport::app {

// Used on the loop of the server. All parts must outlive it.
class PasskeyDesk {
 public:
  static constexpr std::chrono::minutes kGood{5};  // lifetime of a challenge, and of a code
  static constexpr std::size_t kMostOpen = 256;    // of each
  static constexpr std::size_t kMostKeys = 16;     // active keys of a person
  static constexpr std::size_t kMostEver = 256;    // keys of a person, including removed ones

  struct Parts {
    core::RecordLog& records;
    ApiPeople& people;
    const Clock& clock;
    Entropy& entropy;
    std::string ledger;  // the checkpoint origin
  };
  explicit PasskeyDesk(Parts parts) : parts_(std::move(parts)) {}

  // 32 fresh bytes, which one ceremony may use once. A challenge is valid for its `purpose` only.
  std::string challenge(std::string_view purpose);

  struct Offer {
    std::string code;  // eight letters and digits, for `sallyport passkeys add`
    trust::Enrolment enrolment;
  };
  // A key that a page has made, to be signed for. `Unauthenticated`: this person has no registered
  // key, or the data of the page is wrong.
  Result<Offer> offer_passkey(const std::string& person, const std::string& origin,
                              std::string_view client_data, std::string_view authenticator_data);
  Result<Offer> offer_browser_key(const std::string& person, const std::string& origin,
                                  std::string_view spki);
  // The statement of a code. `NotFound`: the code is unknown or has expired.
  Result<trust::Enrolment> offered(std::string_view code) const;
  // Takes the signature. The key counts from now on, and that is recorded.
  Task<trust::Enrolment> accept(std::string code, std::string signature);

  // All keys of a person, including removed ones.
  Result<std::vector<trust::Enrolment>> of(const std::string& person) const;
  // `NotFound`: the person has no active key with this id.
  Task<void> remove(std::string person, std::string credential_id, std::string who);

  // The reviewer whose passkey signed a challenge of ours for signing in, on this page.
  struct Signer {
    std::string name;
    std::string login;  // as `passkey_login` says
  };
  Result<Signer> signer_of_login(const std::string& origin, std::string_view signature);

 private:
  struct Pending {
    trust::Enrolment enrolment;
    SteadyTime made;
  };
  // True once for each challenge.
  bool take(std::string_view purpose, std::string_view challenge);
  Result<const trust::Reviewer*> keyed(const policy::ReviewerFile::List& people,
                                       const std::string& name) const;
  Result<Offer> keep(trust::Enrolment enrolment);
  Result<std::vector<trust::Enrolment>> all() const;

  Parts parts_;
  std::map<Hash, SteadyTime> challenges_;
  std::map<std::string, Pending, std::less<>> pending_;
};

// The draft that makes a key active, and the draft that removes one.
core::Draft passkey_added(const trust::Enrolment& enrolment);
core::Draft passkey_removed(trust::Enrolment enrolment, const std::string& who,
                            const std::string& at);

// The relying party of the passkeys of an origin: its host.
std::string rp_id_of(std::string_view origin);

}  // namespace sallyport::app
