// Logs in with a person and a browser: authorization code with PKCE.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/async.h"
#include "oauth/token_request.h"

namespace sallyport::oauth {

// How a person is reached.
struct Person {
  std::function<void(const std::string& url)> show;  // opens the address, or asks the user to
  std::chrono::milliseconds patience{300'000};
};

struct Login {
  const Application& application;
  const Clock& clock;
  Entropy& entropy;
  Person person;
  std::optional<Account> before{};  // of this server; its client is reused if possible
};

// An error says why the login failed. Stores nothing.
Task<Account> log_in(Login login, Challenge challenge);

// Logs the client in without a person: `client_credentials`.
Task<Account> log_in_client(Login login, Challenge challenge);

}  // namespace sallyport::oauth
