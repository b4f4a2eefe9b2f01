// Who may come over HTTP: the people of the policy or of the data folder, as they are registered
// now.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "api/http_api.h"
#include "app/daemon/login/oidc_people.h"
#include "base/guarded.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

class ApiPeople final : public api::People {
 public:
  // `policy`: a file that may name people; nothing where a shipped one is in force.
  // `config`: the configuration, which may name an OpenID provider.
  ApiPeople(std::optional<std::filesystem::path> policy, std::filesystem::path folder,
            std::optional<std::filesystem::path> config = std::nullopt);

  // Those of the policy, where it is a file that names some, else those of the data folder. From
  // any thread.
  Result<policy::ReviewerFile::List> now() const;

  Result<std::optional<api::Person>> with_token(std::string_view token) override;
  Result<std::optional<api::Roles>> roles_of(const std::string& name) override;
  Result<std::optional<api::Roles>> roles_now(const api::Session& session) override;
  OidcPeople& oidc() { return oidc_; }

 private:
  Result<bool> is_vouched_for(const api::Session& session) const;

  struct Files {
    std::optional<policy::ReviewerFile> policy;
    policy::ReviewerFile folder;
  };
  mutable Guarded<Files> files_;
  OidcPeople oidc_;
};

}  // namespace sallyport::app
