// The people who may use the HTTP API: those of the policy or of the data folder, as registered
// now.
#pragma once

#include <filesystem>
#include <optional>

#include "api/http_api.h"
#include "base/guarded.h"
#include "core/record/record_reader.h"
#include "daemon/login/oidc_people.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

class ApiPeople final : public api::People {
 public:
  struct Parts {
    core::RecordReader& records;                  // has the passkeys; must outlive this
    std::optional<std::filesystem::path> policy;  // may name people; none: a shipped one
    std::filesystem::path folder;                 // the file of people in the data folder
    std::optional<std::filesystem::path> config;  // may name an OpenID provider
  };
  explicit ApiPeople(Parts parts);

  // The people of the policy if it is a file that names people, else those of the data folder. From
  // any thread.
  Result<policy::ReviewerFile::List> now() const;

  Result<std::optional<api::Person>> with_token(std::string_view token) override;
  Result<std::optional<api::Roles>> roles_of(const std::string& name) override;
  Result<std::optional<api::Roles>> roles_now(const api::Session& session) override;
  OidcPeople& oidc() { return oidc_; }

 private:
  Result<bool> is_vouched_for(const api::Session& session) const;
  Result<bool> has_passkey(const trust::Reviewer& person, const std::string& login) const;

  struct Files {
    std::optional<policy::ReviewerFile> policy;
    policy::ReviewerFile folder;
  };
  core::RecordReader& records_;
  mutable Guarded<Files> files_;
  OidcPeople oidc_;
};

// The login of a passkey session: the passkey, and the registered key that vouches for it.
std::string passkey_login(const std::string& credential_id, const trust::Reviewer& person);

}  // namespace sallyport::app
