// What a person has said about the login to one tool server.
#pragma once

#include <cstdint>
#include <string>

#include "net/url.h"

namespace sallyport::oauth {

struct Application {
  net::Url server;
  bool allow_plain = false;  // without encryption, to other machines too
  // Of a client that was registered by hand, or the `https` address of its description. Empty: we
  // register ourselves.
  std::string client_id{};
  std::string client_secret{};
  std::string client_key{};         // PEM; what says who we are is signed with it
  std::string issuer{};             // whose tokens they are; empty: whom the server names first
  std::string scope{};              // to ask for; empty: what the server says
  bool by_itself = false;           // the client is let in, no person: grant `client_credentials`
  std::uint16_t redirect_port = 0;  // that a client registered by hand comes back to; 0: any
};

}  // namespace sallyport::oauth
