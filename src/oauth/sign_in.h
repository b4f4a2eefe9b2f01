// Signs a person in through an OpenID provider: authorization code with PKCE, state and nonce, and
// an ID token whose claims are all checked (OpenID Connect Core, section 3.1).
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/async.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/entropy.h"
#include "oauth/issuer_keys.h"

namespace sallyport::oauth {

// Our registration at the provider.
struct SignInClient {
  std::string issuer{};
  std::string id{};
  std::string secret{};  // empty: a public client
  std::string scope = "openid";
  std::string redirect_uri{};
};

// On a strand, or on a context with one thread.
class SignIn {
 public:
  static constexpr std::chrono::minutes kGood{10};  // from the first step to the last
  static constexpr std::size_t kMostOpen = 256;

  struct Settings {
    const Clock& clock;
    Entropy& entropy;
    SignInClient client;
    std::function<void(std::string_view)> log;
  };
  explicit SignIn(Settings settings);

  struct Begun {
    std::string url{};    // where the browser goes
    std::string state{};  // the browser must return it
  };
  Task<Begun> begin();

  // The parameters of the redirect.
  struct RedirectParams {
    std::string state{};
    std::string code{};
    std::string issuer{};  // `iss` of RFC 9207; empty: none
    std::string error{};
  };
  // The claims of the ID token. `Unauthenticated` says what is wrong, without quoting the token.
  // `Unavailable`: the provider does not answer. A state is valid once.
  Task<json::object> finish(RedirectParams params);

 private:
  struct Open {
    std::string verifier;
    std::string nonce;
    SteadyTime begun;
  };
  Task<std::string> redeem(std::string code, std::string verifier);
  Result<void> check(const json::object& claims, std::string_view nonce) const;

  Settings settings_;
  IssuerKeys keys_;
  std::map<Hash, Open> open_;  // by the digest of the state
};

}  // namespace sallyport::oauth
