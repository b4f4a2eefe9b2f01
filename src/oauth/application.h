// A person's settings for the login at one tool server.
#pragma once

#include <cstdint>
#include <string>

#include "net/url.h"

namespace sallyport::oauth {

struct Application {
  net::Url server;
  bool allow_plain = false;  // without encryption, to other machines too
  // Of a client that was registered by hand, or the `https` URL of its description. Empty: we
  // register a client.
  std::string client_id{};
  std::string client_secret{};
  std::string client_key{};         // PEM; signs the assertions of the client
  std::string issuer{};             // of the tokens; empty: the first that the server names
  std::string scope{};              // to request; empty: as the server says
  bool client_credentials = false;  // the grant for logins without a person
  std::uint16_t redirect_port = 0;  // of a client registered by hand; 0: any
};

}  // namespace sallyport::oauth
