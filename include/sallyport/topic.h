// Topics of the ledger, for programs that follow along (LG-1 to LG-11).
//
//   engine->publish({.topic = "builds", .kind = "build.started", .payload = {{"id", 7}}});
//   Result<TopicPage> page = engine->read_topic("builds", *engine->cursor("builds", "mailer"));
//   for (const StoredEvent& event : page->events) send_mail(event.kind, event.payload);
//   engine->move_cursor("builds", "mailer", page->events.back().id);
//
// The engine writes `trust_graph`, `trigger.outbox`, `autonomy`, `guardrails` and `hitl.*`; all
// other names are free for programs. Ids count from 1 for each topic, without gaps.
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

// An event before it has a place.
struct TopicEvent {
  std::string topic{};  // 1 to 128 of A-Z a-z 0-9 . _ -
  std::string kind{};   // 1 to 128 bytes
  json::value payload{};
  // `trace_id`, `agent` and `autonomy_tier` belong to the engine: a program cannot set them.
  std::map<std::string, std::string> headers{};
};

struct StoredEvent {
  std::string topic{};
  std::uint64_t id = 0;
  std::string kind{};
  json::value payload{};
  std::map<std::string, std::string> headers{};
  std::int64_t occurred_at_ms = 0;
  std::uint64_t sequence = 0;  // of its entry, for a receipt
};
json::object to_json(const StoredEvent& event);

struct TopicPage {
  std::vector<StoredEvent> events{};
  // Set where events behind `after` are gone: the first that is still kept, or would be next.
  std::optional<std::uint64_t> first_kept{};
};

// The last message of a follower that fell behind by more than its queue (LG-5).
struct Lagged {
  std::uint64_t last_seen = 0;
};
json::object to_json(const Lagged& lagged);

namespace ledger {
class Subscription;
}

// `Engine::follow`: history, then what is written later, without a hole or a repeat. Writers never
// wait for it. For one thread; the engine must outlive it.
class TopicFollower {
 public:
  using Message = std::variant<StoredEvent, Lagged>;

  TopicFollower(TopicFollower&&) noexcept;
  ~TopicFollower();

  // The next message; nothing: there is none now, ask again later.
  Result<std::optional<Message>> next();
  // After `Lagged` nothing more comes: follow again from `last_seen`.
  bool ended() const;

 private:
  friend class Engine;
  explicit TopicFollower(std::unique_ptr<ledger::Subscription> subscription);
  std::unique_ptr<ledger::Subscription> subscription_;
};

}  // namespace sallyport
