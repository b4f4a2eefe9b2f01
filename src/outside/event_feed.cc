#include "outside/event_feed.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/try.h"
#include "ledger/entry/entry.h"
#include "ledger/read/export.h"
#include "workspace/ledger_bell.h"
#include "workspace/version.h"

namespace sallyport::app {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostEntries = 256;
constexpr std::size_t kMostBytes = 1u << 20;
constexpr milliseconds kLongestDelivery{1'000};
constexpr milliseconds kLongestRetryPause{60'000};
constexpr std::chrono::seconds kBetweenSaves{1};

// Beside the cursors of topics; no topic is called `*`.
constexpr std::string_view kCursorSpace = "topic_cursor";

std::string cursor_key(std::string_view name) {
  return fmt::format("*/{}", name);
}

std::optional<std::uint64_t> stored_number(const std::optional<std::string>& text) {
  std::uint64_t number = 0;
  if (!text) return std::nullopt;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace

EventFeed::EventFeed(Parts parts, std::string name, bool from_now, std::unique_ptr<EventSink> sink)
    : parts_(std::move(parts)),
      name_(std::move(name)),
      from_now_(from_now),
      sink_(std::move(sink)),
      sent_(parts_.metrics
                .counter("sallyport_events_sent_total",
                         "Entries that a consumer outside has taken.", {"consumer"})
                .at({name_})),
      failures_(parts_.metrics
                    .counter("sallyport_events_failures_total",
                             "Times that a consumer outside did not take entries.", {"consumer"})
                    .at({name_})),
      waiting_(parts_.metrics
                   .gauge("sallyport_events_waiting",
                          "Entries of the log that a consumer outside does not have yet.",
                          {"consumer"})
                   .at({name_})),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

EventFeed::~EventFeed() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_, &one, sizeof one);
  sink_->cancel();
  thread_.join();
  close(stop_);
}

bool EventFeed::wait_for_stop(milliseconds longest) const {
  pollfd watched{stop_, POLLIN, 0};
  return poll(&watched, 1, static_cast<int>(longest.count())) != 0;
}

void EventFeed::run() {
  LedgerBell bell(parts_.data_dir);
  while (!wait_for_stop(milliseconds(0))) {
    const milliseconds pause = pass();
    if (failed_ > 0) {
      // New entries do not help while a consumer is down.
      (void)wait_for_stop(pause);
    } else if (pause.count() > 0) {
      (void)bell.wait(stop_, pause);
    }
  }
  if (claim_ && next_ != saved_) (void)save_cursor();
}

milliseconds EventFeed::pass() {
  const Result<bool> claimed = claim();
  if (!claimed) return failed(claimed.error());
  if (!*claimed) return kLongestDelivery;
  const Result<std::vector<OutgoingEvent>> batch = next_batch();
  if (!batch) return failed(batch.error());
  if (!batch->empty()) {
    const EventSink::Delivered delivered = sink_->deliver(*batch);
    sent_.add(static_cast<double>(delivered.count));
    if (delivered.count > 0) next_ = (*batch)[delivered.count - 1].sequence + 1;
    if (delivered.error) return failed(*delivered.error);
  }
  if (failed_ > 0) {
    parts_.log(fmt::format("the consumer `{}` takes entries again, from {} on", name_, next_));
  }
  failed_ = 0;
  // Not after each batch: a cursor costs a sync, and consumers recognise repeated entries by id.
  if (next_ != saved_ && parts_.clock.steady() - saved_at_ >= kBetweenSaves) {
    if (const Result<void> saved = save_cursor(); !saved) return failed(saved.error());
  }
  return batch->empty() ? kLongestDelivery : milliseconds(0);
}

// One process at a time serves a consumer; the next goes on where it stood.
Result<bool> EventFeed::claim() {
  if (parts_.ledger.holds(claim_)) return true;
  claim_.reset();
  SALLYPORT_TRY(claim_, parts_.ledger.claim("events/" + name_));
  if (!claim_) return false;
  const auto begun = [&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const auto stored, view.fact(kCursorSpace, cursor_key(name_)));
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    const std::optional<std::uint64_t> cursor = stored_number(stored);
    saved_ = cursor.value_or(0);
    next_ = cursor.value_or(from_now_ ? size : 0);
    // A log that was cut back, and that a person has acknowledged, goes on from there.
    next_ = std::min(next_, size);
    return {};
  };
  const Result<void> read = parts_.ledger.store().read(begun);
  if (read) return true;
  claim_.reset();
  return std::unexpected(read.error());
}

Result<OutgoingEvent> EventFeed::outgoing(const ledger::StoredEntry& stored) const {
  OutgoingEvent event{.sequence = stored.sequence,
                      .id = fmt::format("sequence-{}", stored.sequence),
                      .kind = "pruned"};
  // A pruned entry has only its hash.
  if (!stored.bytes || sink_->form() == EventForm::Json) {
    SALLYPORT_TRY(event.line, ledger::sealed_line(stored));
  } else if (sink_->form() == EventForm::Cef) {
    SALLYPORT_TRY(event.line, ledger::cef_line(stored, version()));
  } else {
    SALLYPORT_TRY(event.line, ledger::ocsf_line(stored, version()));
  }
  if (!stored.bytes) return event;
  SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
  event.id = entry.id;
  event.kind = entry.kind;
  return event;
}

Result<std::vector<OutgoingEvent>> EventFeed::next_batch() {
  std::vector<OutgoingEvent> batch;
  std::size_t bytes = 0;
  const auto take = [&](const ledger::StoredEntry& stored) -> Result<bool> {
    SALLYPORT_TRY(OutgoingEvent event, outgoing(stored));
    bytes += event.line.size();
    batch.push_back(std::move(event));
    return bytes < kMostBytes;
  };
  SALLYPORT_CHECK_OK(parts_.ledger.store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    waiting_.set(size > next_ ? static_cast<double>(size - next_) : 0);
    return view.scan(next_, std::min<std::uint64_t>(size, next_ + kMostEntries), take);
  }));
  return batch;
}

Result<void> EventFeed::save_cursor() {
  SALLYPORT_CHECK_OK(
      parts_.ledger.transact([this](ledger::WriteView& view) -> Result<std::vector<core::Draft>> {
        SALLYPORT_CHECK_OK(
            view.put_fact({std::string(kCursorSpace), cursor_key(name_), std::to_string(next_)}));
        return std::vector<core::Draft>{};
      }));
  saved_ = next_;
  saved_at_ = parts_.clock.steady();
  return {};
}

// One second, then two, four, ... up to a minute.
milliseconds EventFeed::failed(const Error& error) {
  failures_.add();
  if (failed_++ == 0 && !wait_for_stop(milliseconds(0))) {
    parts_.log(fmt::format("warning: the consumer `{}` does not take entries, which wait: {}",
                           name_, error.message));
  }
  return std::min(milliseconds(1'000u << std::min(failed_ - 1, 6u)), kLongestRetryPause);
}

Result<std::vector<std::unique_ptr<EventFeed>>> open_feeds(const std::vector<EventsConfig>& config,
                                                           const EventFeed::Parts& parts) {
  std::vector<std::unique_ptr<EventFeed>> feeds;
  for (const EventsConfig& one : config) {
    Result<std::unique_ptr<EventSink>> sink =
        one.jetstream ? open_jetstream(*one.jetstream) : open_http_sink(*one.http);
    if (!sink) {
      return fail(sink.error().code,
                  fmt::format("serve.events `{}`: {}", one.name, sink.error().message));
    }
    feeds.push_back(std::make_unique<EventFeed>(parts, one.name, one.from_now, std::move(*sink)));
  }
  return feeds;
}

}  // namespace sallyport::app
