#include "api/sessions.h"

#include <sodium.h>

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "oauth/base64url.h"

namespace sallyport::api {

std::string fresh_secret(Entropy& entropy) {
  std::array<std::uint8_t, 32> bytes{};
  entropy.fill(bytes);
  return oauth::base64url(as_text(bytes));
}

bool Sessions::over(const Session& session) const {
  const SteadyTime now = clock_.steady();
  return now - session.used >= kIdle || now - session.created >= kLongest;
}

void Sessions::sweep() {
  std::erase_if(sessions_, [this](const auto& pair) { return over(pair.second); });
}

void Sessions::make_room(const std::string& name) {
  sweep();
  const auto drop_oldest = [this](auto&& counts) {
    auto oldest = sessions_.end();
    for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
      if (!counts(it->second)) continue;
      if (oldest == sessions_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    if (oldest != sessions_.end()) sessions_.erase(oldest);
  };
  const auto own = [&](const Session& session) { return session.name == name; };
  const auto mine = std::ranges::count_if(sessions_, [&](const auto& p) { return own(p.second); });
  if (static_cast<std::size_t>(mine) >= kMostEach) drop_oldest(own);
  if (sessions_.size() >= kMost) drop_oldest([](const Session&) { return true; });
}

Sessions::Opened Sessions::open(Guest guest, std::string address) {
  make_room(guest.name);
  const std::string cookie = fresh_secret(entropy_);
  const std::string secret = fresh_secret(entropy_);
  std::array<std::uint8_t, 12> number{};
  entropy_.fill(number);
  const WallTime now = clock_.wall();
  const SteadyTime steady = clock_.steady();
  Session session{.id = "s_" + hex(number),
                  .name = std::move(guest.name),
                  .method = std::move(guest.method),
                  .fixed = guest.fixed,
                  .address = std::move(address),
                  .login_id = std::move(guest.login_id),
                  .groups = std::move(guest.groups),
                  .created_at = now,
                  .used_at = now,
                  .created = steady,
                  .used = steady,
                  .page = sha256(secret)};
  const auto placed = sessions_.insert_or_assign(sha256(cookie), std::move(session)).first;
  return {&placed->second, cookie, secret};
}

const Session* Sessions::find(std::string_view cookie, std::string_view page_secret, bool use) {
  const auto found = sessions_.find(sha256(cookie));
  if (found == sessions_.end()) return nullptr;
  Session& session = found->second;
  const Hash given = sha256(page_secret);
  if (sodium_memcmp(given.data(), session.page.data(), given.size()) != 0) return nullptr;
  if (over(session)) {
    sessions_.erase(found);
    return nullptr;
  }
  if (use) {
    session.used = clock_.steady();
    session.used_at = clock_.wall();
  }
  return &session;
}

const Session* Sessions::find(const std::string& id) {
  for (const auto& [digest, session] : sessions_) {
    if (session.id == id) return over(session) ? nullptr : &session;
  }
  return nullptr;
}

std::vector<Session> Sessions::of(const std::string& name) {
  sweep();
  std::vector<Session> own;
  for (const auto& [digest, session] : sessions_) {
    if (session.name == name) own.push_back(session);
  }
  std::ranges::sort(own, {}, [](const Session& each) { return std::pair(each.created, each.id); });
  return own;
}

bool Sessions::end(const std::string& id) {
  return std::erase_if(sessions_, [&](const auto& pair) { return pair.second.id == id; }) != 0;
}

WallTime Sessions::expires_at(const Session& session) const {
  return session.created_at + std::chrono::duration_cast<std::chrono::microseconds>(kLongest);
}

}  // namespace sallyport::api
