// A person lets us in: authorization code with PKCE, by way of a browser.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/async.h"
#include "oauth/token_request.h"

namespace sallyport::oauth {

// The person, as far as we know one.
struct Person {
  std::function<void(const std::string& url)> show;  // opens the address, or asks the user to
  std::chrono::milliseconds patience{300'000};
};

struct Login {
  const Application& application;
  const Clock& clock;
  Entropy& entropy;
  Person person;
  std::optional<Account>
      before{};  // of this server; its client is used again where that is possible
};

// An error says why the login failed. Nothing is kept here.
Task<Account> log_in(Login login, Challenge challenge);

// The client is let in by itself: `client_credentials`.
Task<Account> let_client_in(Login login, Challenge challenge);

}  // namespace sallyport::oauth
