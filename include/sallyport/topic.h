// Topics are ordered streams of events in the ledger. Programs publish, read and follow them (LG-1
// to LG-11).
//
//   engine->publish({.topic = "builds", .kind = "build.started", .payload = {{"id", 7}}});
//   Result<TopicPage> page = engine->read_topic("builds", *engine->cursor("builds", "mailer"));
//   for (const StoredEvent& event : page->events) send_mail(event.kind, event.payload);
//   engine->move_cursor("builds", "mailer", page->events.back().id);
//
// The engine owns `hitl.*`, `trust_graph`, `trust_graph.*`, `trigger.outbox`, `autonomy`,
// `guardrails`, `artifacts`, `bridge`, `clients`, `facts`, `hooks`, `late_outcomes`,
// `late_results`, `mcp`, `model_messages`, `processes`, `rules`, `scenes`, `server_tasks`,
// `tool_pins`, `turned_away` and `turns`. Programs may use every other name. Ids of a topic count
// from 1, without gaps.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// A value. An event to publish.
struct TopicEvent {
  std::string topic{};  // 1 to 128 of A-Z a-z 0-9 . _ -
  std::string kind{};   // 1 to 128 bytes
  json::value payload{};
  // The engine sets `trace_id`, `agent` and `autonomy_tier`; a program cannot.
  std::map<std::string, std::string> headers{};
};

// A value. An event that was published.
struct StoredEvent {
  std::string topic{};
  std::uint64_t id = 0;
  std::string kind{};
  json::value payload{};
  std::map<std::string, std::string> headers{};
  std::int64_t occurred_at_ms = 0;
  std::uint64_t sequence = 0;  // the position of its entry, for a receipt
};
json::object to_json(const StoredEvent& event);

// A value. What `Engine::read_topic` returns.
struct TopicPage {
  std::vector<StoredEvent> events{};
  // Set if events after `after` were deleted. It is the id of the first event that is left, or the
  // next id if none is left.
  std::optional<std::uint64_t> first_kept{};
};

// The last message of a follower that fell behind by more than its queue holds (LG-5).
struct Lagged {
  std::uint64_t last_seen = 0;
};
json::object to_json(const Lagged& lagged);

namespace ledger {
class Subscription;
}

// Delivers the history of a topic, then new events, without gaps or repeats. `Engine::follow` makes
// it. Writers never wait for it. The caller owns it, uses it on one thread, and destroys it before
// the engine.
class TopicFollower {
 public:
  using Message = std::variant<StoredEvent, Lagged>;

  TopicFollower(TopicFollower&&) noexcept;
  ~TopicFollower();

  // Returns the next message. No value: there is none now; call again later.
  Result<std::optional<Message>> next();
  // True after `Lagged`: no more messages come. Follow again from `last_seen`.
  bool ended() const;

 private:
  friend class Engine;
  explicit TopicFollower(std::unique_ptr<ledger::Subscription> subscription);
  std::unique_ptr<ledger::Subscription> subscription_;
};

}  // namespace sallyport
