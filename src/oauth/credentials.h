// Our own token for a server that is reached over HTTP. Never a token of a client.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/async.h"
#include "oauth/challenge.h"

namespace sallyport::oauth {

// Used by every session with one server, on one strand.
class Credentials {
 public:
  // A request that the server did not authorize.
  struct Refusal {
    std::string token{};  // that was sent with it
    Challenge challenge{};
    std::function<void(std::string_view)> show{};  // to the person
  };

  virtual ~Credentials() = default;

  virtual std::string token() const = 0;  // to send now; empty: none
  // Renews a token that is about to expire, if that needs no person.
  virtual Async<void> renew_if_expiring() = 0;
  // Success: there is a new token for another try. An error says what a person has to do.
  virtual Task<void> renew(Refusal refusal) = 0;
  // True while `renew_if_expiring` or `renew` runs, which may wait for a person.
  virtual bool busy() const = 0;
};

}  // namespace sallyport::oauth
