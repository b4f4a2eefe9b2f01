// What a client has asked of its server for good: a log level, and resources whose changes it wants
// to hear of. A server that is started again has to hear it again.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "mcp/message/translation.h"
#include "mcp/server/server.h"

namespace sallyport::mcp {

// Owned by a `ServerSession` and used on its strand.
class StandingRequests {
 public:
  StandingRequests(Server& server, const ClientProfile& client, const Limits& limits)
      : server_(server), client_(client), limits_(limits) {}

  // Notes a request of a client of sessions.
  void note(const Message& request);
  // Requests of a stateless client name a log level each; a server of sessions has one, the lowest of
  // them. Returns false for what is no level, and sets `changed` where the server has to hear of it.
  bool lower_log_level(const json::value& level, bool& changed);
  // Tells a server of sessions, whose opening said `opening`, the log level.
  Async<void> tell_log_level(std::string opening);
  Async<void> subscribe(std::set<std::string> uris);
  Async<void> unsubscribe(std::set<std::string> uris);

  // Tells all of it to a server of sessions that was started again.
  Async<void> repeat();
  // Holds the one subscription at a stateless server that a client of sessions needs. `discovery`
  // says what the server tells of.
  Async<void> listen(std::string discovery);
  void forget_listening() { listening_ = 0; }  // the server that was listened to has ended

  // What each request tells a stateless server about the client.
  ClientFacts client_facts() const;

 private:
  Server& server_;
  const ClientProfile& client_;
  const Limits& limits_;
  std::string log_level_;                // params of `logging/setLevel`
  std::set<std::string> subscriptions_;  // params of `resources/subscribe`
  std::uint64_t listening_ = 0;          // our own `subscriptions/listen`
};

// Does an opening or a discovery say that the server has this, or tells of its changes?
bool offers(const std::string& said, std::string_view feature);
bool offers(const std::string& said, std::string_view feature, std::string_view what);

}  // namespace sallyport::mcp
