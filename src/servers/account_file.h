// The login to one tool server, as a file in the data folder that only its owner can read. A client
// that authenticates itself has a separate file.
#pragma once

#include <filesystem>

#include "oauth/account.h"
#include "oauth/application.h"

namespace sallyport::app {

class AccountFile final : public oauth::Vault {
 public:
  AccountFile(const std::filesystem::path& data_dir, const oauth::Application& application);

  Result<std::optional<oauth::Account>> load() override;
  Result<void> save(const oauth::Account& account) override;
  std::unique_ptr<Lock> try_lock() override;
  Result<void> remove();

  const std::filesystem::path& path() const { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace sallyport::app
