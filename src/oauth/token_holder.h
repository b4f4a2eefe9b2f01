// Keeps the token for one tool server. Loads the stored one, renews it if possible, and else asks a
// person to log in if one may be asked.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "base/bell.h"
#include "oauth/credentials.h"
#include "oauth/login.h"

namespace sallyport::oauth {

class TokenHolder final : public Credentials {
 public:
  struct Settings {
    Application application;
    const Clock& clock;
    Entropy& entropy;
    std::unique_ptr<Vault> vault;
    std::function<void(const std::string& url)> open_page{};  // none: no person may be asked
    std::chrono::milliseconds patience{300'000};
    std::string login_command{};  // the command, for people
  };
  explicit TokenHolder(Settings settings);

  std::string token() const override;
  Async<void> renew_if_expiring() override;
  Task<void> renew(Refusal refusal) override;
  bool busy() const override { return busy_; }

 private:
  Task<void> replace_refused(const Refusal& refusal);
  Task<void> refresh();
  Task<void> request_refresh();
  Task<void> ask_person(const Refusal& refusal);
  Task<void> log_in_as_client(Challenge challenge);
  std::unexpected<Error> needs_person(const Challenge& challenge) const;
  Result<void> check_scope(const Challenge& challenge) const;
  Result<void> keep(Account account);
  bool read_again(const std::string& refused);

  Settings settings_;
  std::optional<Account> account_;
  bool issuer_known_ = false;  // stored for other processes, with `client_credentials`
  bool busy_ = false;          // one caller gets a token, the others wait
  Bell bell_;
  std::deque<SteadyTime> logins_;  // times of the newest logins of a person
  std::optional<Error> failure_;   // of the last login
};

}  // namespace sallyport::oauth
