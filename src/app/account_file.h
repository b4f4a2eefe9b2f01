// The login to one tool server, as a file in the data folder that only its owner can read.
#pragma once

#include <filesystem>

#include "net/url.h"
#include "oauth/account.h"

namespace sallyport::app {

class AccountFile final : public oauth::Vault {
 public:
  AccountFile(const std::filesystem::path& data_dir, const net::Url& server);

  Result<std::optional<oauth::Account>> load() override;
  Result<void> save(const oauth::Account& account) override;
  std::unique_ptr<Lock> try_lock() override;
  Result<void> remove();

  const std::filesystem::path& path() const { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace sallyport::app
