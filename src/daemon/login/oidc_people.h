// The people that `console.oidc` admits, as the configuration file says now. A person who is
// removed from it loses rights and streams at once (CO-24).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "base/file_state.h"
#include "base/guarded.h"
#include "sallyport/result.h"
#include "workspace/config/oidc_config.h"

namespace sallyport::app {

class OidcPeople {
 public:
  using Now = std::shared_ptr<const OidcConfig>;  // null: no provider is configured

  explicit OidcPeople(std::optional<std::filesystem::path> config)
      : file_(File{std::move(config), {}, {}}) {}

  // From any thread. An error: the file cannot be read as it is now, so no person is admitted.
  Result<Now> now() const;

 private:
  struct File {
    std::optional<std::filesystem::path> path;
    std::optional<FileState> state;  // as `config` was read
    Now config;
  };
  mutable Guarded<File> file_;
};

}  // namespace sallyport::app
