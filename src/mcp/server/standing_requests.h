// Lasting requests of a client to its server: a log level, and subscriptions to resources. They are
// sent again to a restarted server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mcp/message/translation.h"
#include "mcp/server/server.h"

namespace sallyport::mcp {

// Owned by a `ServerSession` and used on its strand.
class StandingRequests {
 public:
  StandingRequests(Server& server, const ClientProfile& client, const Limits& limits)
      : server_(server), client_(client), limits_(limits) {}

  // Stores a lasting request of a stateful client.
  void note(const Message& request);
  // Each request of a stateless client names a log level; a stateful server has one, the lowest of
  // them. Returns false if it is not a level. Sets `changed` if the server needs the new level.
  bool lower_log_level(const json::value& level, bool& changed);
  // Sends the log level to a stateful server, whose `initialize` result is `opening`.
  Async<void> send_log_level(std::string opening);
  Async<void> subscribe(std::set<std::string> uris);
  Async<void> unsubscribe(std::set<std::string> uris);

  // Sends all of them to a restarted stateful server.
  Async<void> repeat();
  // Holds the one subscription at a stateless server that a stateful client needs. `discovery` says
  // which notifications the server sends.
  Async<void> listen(std::string discovery);
  void forget_listening() { listening_ = 0; }  // the server that was listened to has ended

  // The facts about the client in each request to a stateless server.
  ClientFacts client_facts() const;

 private:
  Server& server_;
  const ClientProfile& client_;
  const Limits& limits_;
  std::string log_level_;                // params of `logging/setLevel`
  std::set<std::string> subscriptions_;  // params of `resources/subscribe`
  std::uint64_t listening_ = 0;          // our own `subscriptions/listen`
};

// The rank of a log level, from the lowest. No value: it is not a level.
std::optional<std::size_t> rank_of_level(std::string_view level);

// True if an `initialize` or `server/discover` result declares this, or notifications about it.
bool offers(const std::string& description, std::string_view feature);
bool offers(const std::string& description, std::string_view feature, std::string_view what);

}  // namespace sallyport::mcp
