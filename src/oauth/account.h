// The result of a login at one tool server: our client at its authorization server, and the tokens.
// The holder of a token can act as the person who logged in.
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
  std::string method = "none";  // how it authenticates, named as in RFC 7591
  std::string redirect_uri{};   // registered with it; empty: the client was given to us
};

struct Tokens {
  std::string access{};
  std::string refresh{};              // empty: there is none
  std::string scope{};                // granted; empty: as requested
  std::optional<WallTime> expires{};  // no value: unknown
};

struct Account {
  std::string server{};  // the only tool server that it is for
  std::string resource{};
  std::string issuer{};
  std::string token_endpoint{};
  std::string revocation_endpoint{};
  std::string scope{};  // requested
  Client client{};
  Tokens tokens{};
};

// For a client that registers itself, only the owner is stored, and no credential.
Account binding_of(Account account);

// The JSON text that is stored.
std::string account_text(const Account& account);
// `Corrupt`: it is no account, or one of a later version.
Result<Account> read_account(std::string_view text);

// Stores an account for all processes that use its server.
class Vault {
 public:
  virtual ~Vault() = default;
  virtual Result<std::optional<Account>> load() = 0;
  virtual Result<void> save(const Account& account) = 0;

  // A refresh token is often valid once, so only one process at a time uses it. The destructor
  // releases the lock. Null: another process holds it.
  class Lock {
   public:
    virtual ~Lock() = default;
  };
  virtual std::unique_ptr<Lock> try_lock() = 0;
};

// The answer of a token endpoint. `Unauthenticated`: it refuses, with its reason. `Corrupt`: it is
// no such answer.
Result<Tokens> read_tokens(unsigned status, std::string_view body, WallTime now);
// The response of a registration endpoint to a client that asked for `method`.
Result<Client> read_registration(unsigned status, std::string_view body, std::string method);

// The scopes of both in their order, without duplicates.
std::string joined_scopes(std::string_view first, std::string_view second);

}  // namespace sallyport::oauth
