// Keeps the token for one tool server: as it was stored, renewed where that is possible, and asked
// for anew where a person may be asked.
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
    std::string how_to_log_in{};  // the command, for people
  };
  explicit TokenHolder(Settings settings);

  std::string token() const override;
  Async<void> freshen() override;
  Task<void> renew(Refusal refusal) override;
  bool busy() const override { return busy_; }

 private:
  Task<void> get_another(const Refusal& refusal);
  Task<void> refresh();
  Task<void> refresh_alone();
  Task<void> ask_person(const Refusal& refusal);
  Task<void> let_in(Challenge challenge);
  std::unexpected<Error> needs_person(const Challenge& challenge) const;
  Result<void> check_scope(const Challenge& challenge) const;
  Result<void> keep(Account account);
  bool read_again(const std::string& refused);

  Settings settings_;
  std::optional<Account> account_;
  bool issuer_known_ = false;  // to other processes too, where the client is let in by itself
  bool busy_ = false;          // one asks, the others wait for what comes of it
  Bell bell_;
  std::deque<SteadyTime> logins_;  // that a person was asked for, the newest ones
  std::optional<Error> failure_;   // of the last one
};

}  // namespace sallyport::oauth
