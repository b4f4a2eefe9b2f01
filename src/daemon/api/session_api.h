// Signing in and out over HTTP: by a link from the command line, by the token of a registered
// person, or by an enrolled passkey (sections 5.1 and 5.2 of the console's specification).
#pragma once

#include "api/http_api.h"
#include "daemon/api/passkey_desk.h"
#include "daemon/login/api_people.h"
#include "daemon/login/login_links.h"
#include "people/approval_views.h"
#include "workspace/config/console_config.h"

namespace sallyport::app {

// On the loop of the server. All parts must outlive it.
class SessionApi {
 public:
  struct Parts {
    ApiPeople& people;
    LoginLinks& links;
    PasskeyDesk& passkeys;
    const Clock& clock;
    StrongQuestions strong{};
    PolicyWrites policies = PolicyWrites::ReadOnly;
  };
  explicit SessionApi(Parts parts) : parts_(std::move(parts)) {}

  void add_to(api::HttpApi& api);

 private:
  using Request = api::Request;
  void add_logins(api::HttpApi& api);
  Task<api::Response> by_link(Request request);
  Task<api::Response> by_token(Request request);
  Task<api::Response> by_passkey(Request request);
  Task<api::Response> show(Request request);
  Task<api::Response> list(Request request);
  Task<api::Response> leave(Request request);
  Task<api::Response> revoke(Request request);
  Result<api::Response> begin(const Request& request, LoginLinks::Guest guest);
  Result<json::object> described(const api::Session& session) const;

  Parts parts_;
  api::Sessions* sessions_ = nullptr;
};

}  // namespace sallyport::app
