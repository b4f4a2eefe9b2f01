// Links that sign one person in once. A process asks the daemon for one over its socket, `sallyport
// console` shows it, and the login page takes it (CO-15, CO-16).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/sessions.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/entropy.h"

namespace sallyport::app {

// Used on the loop of the server. Only digests are stored.
class LoginLinks {
 public:
  static constexpr std::chrono::minutes kGood{5};
  static constexpr std::size_t kMost = 256;

  LoginLinks(const Clock& clock, Entropy& entropy) : clock_(clock), entropy_(entropy) {}

  using Guest = api::Sessions::Guest;
  // The secret of the link.
  std::string make(Guest guest);
  // No value: the link was used, is too old, or never existed.
  std::optional<Guest> take(std::string_view secret);

 private:
  struct Link {
    Guest guest;
    SteadyTime made;
  };
  const Clock& clock_;
  Entropy& entropy_;
  std::map<Hash, Link> links_;
};

}  // namespace sallyport::app
