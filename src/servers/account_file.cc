#include "servers/account_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "ledger/secret/private_file.h"
#include "oauth/metadata.h"

namespace sallyport::app {

namespace {

// One for each address, whose query may tell tenants apart.
std::string file_name(const net::Url& server, const std::string& client) {
  const std::string of_client = client.empty() ? "" : " " + client;
  return hex(sha256(
             {server.tls ? "https://" : "http://", server.authority(), server.target, of_client})) +
         ".json";
}

class FileLock final : public oauth::Vault::Lock {
 public:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;
};

}  // namespace

AccountFile::AccountFile(const std::filesystem::path& data_dir,
                         const oauth::Application& application)
    : file_(data_dir / "logins" /
            file_name(application.server,
                      application.client_credentials ? application.client_id : "")) {}

Result<std::optional<oauth::Account>> AccountFile::load() {
  SALLYPORT_TRY(const std::optional<std::string> text,
                ledger::read_private_file(file_, oauth::kMostBytes));
  if (!text) return std::nullopt;
  Result<oauth::Account> account = oauth::read_account(*text);
  if (!account) return fail(account.error().code, account.error().message, file_.string());
  return std::move(*account);
}

Result<void> AccountFile::save(const oauth::Account& account) {
  SALLYPORT_CHECK_OK(ledger::make_private_folder(file_.parent_path().parent_path()));
  SALLYPORT_CHECK_OK(ledger::make_private_folder(file_.parent_path()));
  return ledger::replace_private_file(file_, oauth::account_text(account));
}

// A process that cannot create the file counts as alone.
std::unique_ptr<oauth::Vault::Lock> AccountFile::try_lock() {
  const std::string name = file_.string() + ".lock";
  Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file && flock(file.get(), LOCK_EX | LOCK_NB) != 0) return nullptr;
  return std::make_unique<FileLock>(std::move(file));
}

Result<void> AccountFile::remove() {
  return ledger::remove_private_file(file_);
}

}  // namespace sallyport::app
