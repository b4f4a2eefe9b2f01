// Sign-in at an OpenID provider (CO-18): one route sends the browser to the provider, and one takes
// it back. The page gets a link that works once, as from the command line.
#pragma once

#include <string>

#include "api/http_api.h"
#include "daemon/login/login_links.h"
#include "daemon/login/oidc_people.h"
#include "oauth/sign_in.h"
#include "workspace/config/oidc_config.h"

namespace sallyport::app {

// Used on the loop of the server. All parts must outlive it.
class OidcLogin {
 public:
  struct Parts {
    OidcPeople& people;
    LoginLinks& links;
    const Clock& clock;
    Entropy& entropy;
    std::string console;  // `https://gate.example.com/console/`
    std::string secret;   // our client secret at the provider; empty: none
    std::function<void(std::string_view)> log;
  };
  OidcLogin(Parts parts, const OidcConfig& config);

  void add_to(api::HttpApi& api);

 private:
  Task<api::Response> begin(api::Request request);
  Task<api::Response> finish(api::Request request);
  Task<std::string> link_for(api::Request request);
  Result<LoginLinks::Guest> guest_of(const json::object& claims) const;
  std::string cookie(std::string_view state) const;
  // Redirects to the console with a fragment, which browsers send to no server.
  api::Response to_console(std::string_view fragment) const;

  Parts parts_;
  oauth::SignIn sign_in_;
};

}  // namespace sallyport::app
