// The sessions of people who are signed in. A session needs a cookie that scripts cannot read.
// Browsers send a cookie to every port of a host, so it also needs a secret that only our page has
// (`X-Sallyport-Page`). Only their digests are stored, in memory, so no session outlives the
// process.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/role.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/entropy.h"

namespace sallyport::api {

// 32 fresh random bytes as 43 characters of base64url.
std::string fresh_secret(Entropy& entropy);

struct Session {
  std::string id{};
  std::string name{};
  std::string method{};   // token, link, link_key, passkey, oidc
  Roles fixed{};          // for a person who is in no list; empty: the list's current roles
  std::string address{};  // of the person who signed in
  // The provider's name for the person, or the id of their token, key or passkey. The session ends
  // when it is no longer registered.
  std::string login_id{};
  std::vector<std::string> groups{};
  WallTime created_at{};
  WallTime used_at{};
  SteadyTime created{};
  SteadyTime used{};
  Hash page{};  // digest of the page secret
};

// Used on the loop of the server.
class Sessions {
 public:
  static constexpr std::chrono::minutes kIdle{30};
  static constexpr std::chrono::hours kLongest{12};
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostEach = 32;  // for one person; the least recently used ends

  Sessions(const Clock& clock, Entropy& entropy) : clock_(clock), entropy_(entropy) {}

  struct Opened {
    const Session* session;
    std::string cookie;
    std::string page_secret;
  };
  // The person who signs in, with the members of `Session`.
  struct Guest {
    std::string name{};
    std::string method{};
    Roles fixed{};
    std::string login_id{};
    std::vector<std::string> groups{};
  };
  Opened open(Guest guest, std::string address);

  // Null: no session has this cookie and page secret, or it has ended. `use`: counts as use, so the
  // idle time starts again.
  const Session* find(std::string_view cookie, std::string_view page_secret, bool use);
  // Null: the session no longer exists. Does not count as use.
  const Session* find(const std::string& id);
  std::vector<Session> of(const std::string& name);
  bool end(const std::string& id);
  WallTime expires_at(const Session& session) const;

 private:
  bool over(const Session& session) const;
  void sweep();
  void make_room(const std::string& name);

  const Clock& clock_;
  Entropy& entropy_;
  std::map<Hash, Session> sessions_;  // by the digest of their cookies
};

}  // namespace sallyport::api
