// Delivers every entry of the log to one consumer, in order and at least once, on its own thread.
// The position of the consumer is a fact of the ledger, so any process can continue from there.
// Entries wait in the log itself, so no queue grows and no call waits.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "ledger/ledger.h"
#include "outside/event_sink.h"

namespace sallyport::app {

class EventFeed {
 public:
  // All must outlive it.
  struct Parts {
    ledger::Ledger& ledger;
    const Clock& clock;
    Metrics& metrics;
    std::filesystem::path data_dir;
    std::function<void(std::string_view)> log;
  };
  // Begins at once.
  EventFeed(Parts parts, std::string name, bool from_now, std::unique_ptr<EventSink> sink);
  EventFeed(const EventFeed&) = delete;
  ~EventFeed();  // waits for the current delivery, and stores the position

 private:
  void run();
  // How long to wait until there is something to do; zero: there is more now.
  std::chrono::milliseconds pass();
  Result<bool> claim();
  Result<std::vector<OutgoingEvent>> next_batch();
  Result<OutgoingEvent> outgoing(const ledger::StoredEntry& stored) const;
  Result<void> save_cursor();
  std::chrono::milliseconds failed(const Error& error);
  bool wait_for_stop(std::chrono::milliseconds longest) const;

  Parts parts_;
  std::string name_;
  bool from_now_;
  std::unique_ptr<EventSink> sink_;
  MetricNumber& sent_;
  MetricNumber& failures_;
  MetricNumber& waiting_;
  int stop_;                     // an eventfd; readable once this ends
  std::shared_ptr<void> claim_;  // shared, as the ledger hands claims out; null: not ours yet
  std::uint64_t next_ = 0;       // the sequence that is delivered next
  std::uint64_t saved_ = 0;      // the same, as the ledger has it
  SteadyTime saved_at_{};
  unsigned failed_ = 0;  // times in a row
  std::thread thread_;
};

// All consumers of a configuration. An error names the one that cannot be served.
Result<std::vector<std::unique_ptr<EventFeed>>> open_feeds(const std::vector<EventsConfig>& config,
                                                           const EventFeed::Parts& parts);

}  // namespace sallyport::app
