// Topics of the ledger, read by programs that follow along: pages, subscriptions and cursors that
// survive a restart (LG-1..LG-6, TR-8).
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

// 0 where nothing was ever written to it.
Result<std::uint64_t> latest_id(ReadView& view, const std::string& topic);

// History from `after` on, then what comes, without a hole or a repeat. Writers never wait for it.
// Belongs to one thread.
class Subscription {
 public:
  using Message = TopicFollower::Message;
  static constexpr std::size_t kQueue = 1024;

  static Result<Subscription> open(LedgerStore& store, std::string topic, std::int64_t after,
                                   std::size_t queue = kQueue);

  // Takes over what was written since. A subscriber that lags behind by more than the queue is told
  // so.
  Result<void> pump();
  // Nothing: nothing is there now. History is read as it is asked for and cannot lag.
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

  LedgerStore* store_;
  std::string topic_;
  std::uint64_t last_;        // taken over
  std::uint64_t history_to_;  // was there when it began
  std::size_t queue_;
  std::deque<Message> waiting_;
  bool ended_ = false;
};

// Where a named consumer stands; 0 before it moved. Cursors only move forward and never pass the
// latest id: `Conflict`, and nothing is written.
Result<std::uint64_t> cursor_of(LedgerStore& store, const std::string& topic,
                                const std::string& consumer);
Result<void> move_cursor(Ledger& ledger, const std::string& topic, const std::string& consumer,
                         std::uint64_t id);

}  // namespace sallyport::ledger
