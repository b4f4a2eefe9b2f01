// Reads topics of the ledger: pages, subscriptions, and cursors that survive a restart (LG-1..LG-6,
// TR-8).
//
//   SALLYPORT_TRY(TopicPage page, read_topic(store, "trigger.outbox", 0, 100));
//   Subscription news(store, "trigger.outbox", page.events.back().id);
//   while (auto message = news.next()) handle(*message);   // call pump() when something may be new
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "ledger/ledger.h"
#include "ledger/store.h"
#include "sallyport/topic.h"

namespace sallyport::ledger {

// Events with an id greater than `after`, in order. `trust_graph.<agent>` reads the records of one
// agent, with the ids of `trust_graph`. `InvalidInput`: no topic name, or `after` is negative.
Result<TopicPage> read_topic(LedgerStore& store, const std::string& topic, std::int64_t after,
                             std::size_t limit);

// 0: nothing was ever written to the topic.
Result<std::uint64_t> latest_id(ReadView& view, const std::string& topic);

// Delivers the history after `after`, then new events, without gaps or repeats. Writers never wait
// for it. Used on one thread.
class Subscription {
 public:
  using Message = TopicFollower::Message;
  static constexpr std::size_t kQueue = 1024;

  static Result<Subscription> open(LedgerStore& store, std::string topic, std::int64_t after,
                                   std::size_t queue = kQueue);

  // Queues new events. A subscriber that falls behind by more than the queue gets `Lagged`.
  Result<void> pump();
  // No value: there is no event now. History is read on demand and cannot lag.
  Result<std::optional<Message>> next();
  bool ended() const { return ended_ && waiting_.empty(); }

 private:
  Subscription(LedgerStore& store, std::string topic, std::uint64_t after, std::uint64_t latest,
               std::size_t queue)
      : store_(&store),
        topic_(std::move(topic)),
        last_(after),
        history_to_(latest),
        queue_(queue) {}
  Result<std::vector<StoredEvent>> read_new(std::size_t limit);
  void take(StoredEvent event);

  LedgerStore* store_;
  std::string topic_;
  std::uint64_t last_;             // taken over
  std::uint64_t history_to_;       // was there when it began
  std::uint64_t seen_ = 0;         // the newest id when all was read
  std::uint64_t searched_to_ = 0;  // no entry up to this sequence is read again; 0: none yet
  std::size_t queue_;
  std::deque<Message> waiting_;
  bool ended_ = false;
};

// The position of a named consumer; 0 before its first move. A cursor moves forward only and never
// past the latest id; any other move is `Conflict`, and nothing is written.
Result<std::uint64_t> cursor_of(LedgerStore& store, const std::string& topic,
                                const std::string& consumer);
Result<void> move_cursor(Ledger& ledger, const std::string& topic, const std::string& consumer,
                         std::uint64_t id);

}  // namespace sallyport::ledger
