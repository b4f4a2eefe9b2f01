// Our own token for a server that is reached over HTTP. What a client of ours sent us is never one.
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
  // A request that the server did not let in.
  struct Refusal {
    std::string token{};  // that was sent with it
    Challenge challenge{};
    std::function<void(std::string_view)> say{};  // to the person
  };

  virtual ~Credentials() = default;

  virtual std::string token() const = 0;  // to send now; empty: none
  // Renews one that is about to expire, where that needs no person.
  virtual Async<void> freshen() = 0;
  // Success: there is another token, try again with it. An error says what a person has to do.
  virtual Task<void> renew(Refusal refusal) = 0;
  // One of these two is under way, and may wait for a person.
  virtual bool busy() const = 0;
};

}  // namespace sallyport::oauth
