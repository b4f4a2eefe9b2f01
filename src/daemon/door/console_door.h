// The socket of the console, in the data folder and only for programs of this user. `sallyport
// console` gets a link there, and `sallyport passkeys add` sends a signature.
#pragma once

#include <deque>
#include <string>

#include "daemon/api/passkey_desk.h"
#include "daemon/login/api_people.h"
#include "daemon/login/login_links.h"
#include "net/frame_server.h"

namespace sallyport::app {

inline constexpr const char* kConsoleSocket = "console.sock";
inline constexpr std::string_view kConsoleGreeting = "sallyport-console/1";
inline constexpr std::size_t kLargestConsoleFrame = 16u << 10;

// The statement that a reviewer signs to get a link: valid for one minute, and once.
std::string console_statement(const std::string& reviewer, const std::string& ledger,
                              const std::string& nonce, const std::string& at);

// On the loop of the server.
class ConsoleDoor {
 public:
  struct Parts {
    boost::asio::any_io_executor executor;
    std::filesystem::path folder;
    std::string address;  // of the console, `http://sallyport.localhost:8765/console/`
    std::string ledger;   // the checkpoint origin
    ApiPeople& people;
    LoginLinks& links;
    PasskeyDesk& passkeys;
    const Clock& clock;
    net::FrameServer::Log log;
  };
  explicit ConsoleDoor(Parts parts);

  Result<void> open() { return server_.listen(parts_.folder, kConsoleSocket); }
  Async<void> run(std::chrono::milliseconds patience);
  void stop() { server_.stop(); }

 private:
  Async<std::optional<net::FrameServer::Response>> answer(net::Peer peer, std::string question);
  Result<LoginLinks::Guest> guest_of(const net::Peer& peer, const json::object& question);
  Task<json::object> link_for(net::Peer peer, json::object question);
  Task<json::object> sign_for(json::object passkey);

  Parts parts_;
  std::deque<std::string> nonces_;  // of accepted statements, the newest last
  net::FrameServer server_;
};

}  // namespace sallyport::app
