#include "daemon/login/login_links.h"

#include <algorithm>

#include "api/sessions.h"

namespace sallyport::app {

std::string LoginLinks::make(Guest guest) {
  const SteadyTime now = clock_.steady();
  std::erase_if(links_, [&](const auto& pair) { return now - pair.second.made >= kGood; });
  if (links_.size() >= kMost) {
    links_.erase(
        std::ranges::min_element(links_, {}, [](const auto& pair) { return pair.second.made; }));
  }
  std::string secret = api::fresh_secret(entropy_);
  links_.emplace(sha256(secret), Link{std::move(guest), now});
  return secret;
}

std::optional<LoginLinks::Guest> LoginLinks::take(std::string_view secret) {
  const auto found = links_.find(sha256(secret));
  if (found == links_.end()) return std::nullopt;
  Link link = std::move(found->second);
  links_.erase(found);
  if (clock_.steady() - link.made >= kGood) return std::nullopt;
  return std::move(link.guest);
}

}  // namespace sallyport::app
