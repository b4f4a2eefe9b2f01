// What a login leaves behind for one tool server: who we are to its authorization server, and the
// tokens that it gave. The holder of a token can act as the person who logged in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "sallyport/result.h"

namespace sallyport::oauth {

struct Client {
  std::string id{};
  std::string secret{};
  std::string method = "none";  // by which it says who it is: as in RFC 7591
  std::string redirect_uri{};   // with which it was registered; empty: it was given to us
};

struct Tokens {
  std::string access{};
  std::string refresh{};              // empty: there is none
  std::string scope{};                // that was given; empty: what was asked for
  std::optional<WallTime> expires{};  // no value: it does not say
};

struct Account {
  std::string server{};  // the tool server that it is for, and no other
  std::string resource{};
  std::string issuer{};
  std::string token_endpoint{};
  std::string revocation_endpoint{};
  std::string scope{};  // that was asked for
  Client client{};
  Tokens tokens{};
};

// For a client that registers itself, only the owner is stored, and no credential.
Account binding_of(Account account);

// JSON, as it is kept.
std::string account_text(const Account& account);
// `Corrupt`: it is none, or one of a later version.
Result<Account> read_account(std::string_view text);

// Where an account is kept, and read by every process that speaks to its server.
class Vault {
 public:
  virtual ~Vault() = default;
  virtual Result<std::optional<Account>> load() = 0;
  virtual Result<void> save(const Account& account) = 0;

  // A refresh token is often good once: only one process at a time uses it. Held until it is
  // destroyed; nothing: another process has it.
  class Lock {
   public:
    virtual ~Lock() = default;
  };
  virtual std::unique_ptr<Lock> try_lock() = 0;
};

// The answer of a token endpoint. `Unauthenticated`: it refuses, and says why; `Corrupt`: it is no
// such answer.
Result<Tokens> read_tokens(unsigned status, std::string_view body, WallTime now);
// The response of a registration endpoint to a client that asked for `method`.
Result<Client> read_registration(unsigned status, std::string_view body, std::string method);

// Scopes, each once, in the order in which they came.
std::string joined_scopes(std::string_view one, std::string_view other);

}  // namespace sallyport::oauth
