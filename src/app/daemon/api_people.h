// Who may come over HTTP: the people of the policy or of the data folder, as they are registered
// now.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "api/http_api.h"
#include "base/guarded.h"
#include "policy/reviewer_file.h"

namespace sallyport::app {

class ApiPeople final : public api::People {
 public:
  // `policy`: a file that may name people; nothing where a shipped one is in force.
  ApiPeople(std::optional<std::filesystem::path> policy, std::filesystem::path folder);

  // Those of the policy, where it is a file that names some, else those of the data folder. From
  // any thread.
  Result<policy::ReviewerFile::List> now() const;

  Result<std::optional<api::Person>> with_token(std::string_view token) override;
  Result<std::optional<api::Roles>> roles_of(const std::string& name) override;

 private:
  struct Files {
    std::optional<policy::ReviewerFile> policy;
    policy::ReviewerFile folder;
  };
  mutable Guarded<Files> files_;
};

}  // namespace sallyport::app
