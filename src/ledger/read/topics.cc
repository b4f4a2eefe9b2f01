#include "ledger/read/topics.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/json_members.h"
#include "base/try.h"
#include "core/event/topic_name.h"
#include "ledger/read/query.h"
#include "ledger/read/stored_entry.h"

namespace sallyport {

json::object to_json(const StoredEvent& event) {
  json::object headers;
  for (const auto& [name, value] : event.headers) headers[name] = value;
  return {{"topic", event.topic},
          {"id", event.id},
          {"kind", event.kind},
          {"payload", event.payload},
          {"headers", std::move(headers)},
          {"occurred_at_ms", event.occurred_at_ms}};
}

json::object to_json(const Lagged& lagged) {
  return {{"lagged", true}, {"last_seen", lagged.last_seen}};
}

}  // namespace sallyport

namespace sallyport::ledger {

namespace {

constexpr std::string_view kTrustTopic = "trust_graph";
constexpr std::string_view kCursorSpace = "topic_cursor";
constexpr std::size_t kPage = 256;

std::string text_or_empty(const json::object& object, std::string_view name) {
  return std::string(text_in(object, name).value_or(""));
}

// Entries of other kinds can be on topics too: their body is the payload.
Result<StoredEvent> event_of(const StoredEntry& stored, const EntryView& view) {
  SALLYPORT_TRY(const json::object entry, opened_entry(stored));
  const json::object* const body = object_in(entry, "body");
  if (body == nullptr) return ledger_unavailable("corrupt", "an entry has no body");
  StoredEvent event{.topic = view.topic, .id = view.topic_id, .sequence = stored.sequence};
  if (const std::optional<WallTime> time = from_rfc3339(view.recorded_at)) {
    event.occurred_at_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(time->time_since_epoch()).count();
  }
  if (view.kind != "topic") {
    event.kind = view.kind;
    event.payload = *body;
    if (!view.trace_id.empty()) event.headers["trace_id"] = view.trace_id;
    if (!view.agent_id.empty()) event.headers["agent"] = view.agent_id;
    const std::string tier = text_or_empty(*body, "autonomy_tier");
    if (!tier.empty()) event.headers["autonomy_tier"] = tier;
    return event;
  }
  event.kind = text_or_empty(*body, "kind");
  if (const json::value* const payload = body->if_contains("payload")) event.payload = *payload;
  if (const json::object* const headers = object_in(*body, "headers")) {
    for (const json::key_value_pair& header : *headers) {
      if (header.value().is_string()) event.headers[header.key()] = header.value().get_string();
    }
  }
  return event;
}

std::uint64_t number_from(const std::optional<std::string>& stored) {
  std::uint64_t number = 0;
  if (stored) std::from_chars(stored->data(), stored->data() + stored->size(), number);
  return number;
}

Filter filter_of(const std::string& topic) {
  Filter filter;
  if (topic.starts_with(fmt::format("{}.", kTrustTopic))) {
    filter.facets[Facet::Topic] = kTrustTopic;
    filter.facets[Facet::Agent] = topic.substr(kTrustTopic.size() + 1);
  } else {
    filter.facets[Facet::Topic] = topic;
  }
  return filter;
}

// `from`: no entry up to this sequence is read, because the caller has read them; 0: none.
Result<TopicPage> read_page(ReadView& view, const std::string& topic, std::uint64_t after,
                            std::size_t limit, std::uint64_t from = 0) {
  TopicPage page;
  std::optional<std::uint64_t> first;
  Filter filter = filter_of(topic);
  if (from > 0) filter.after = from;
  SALLYPORT_CHECK_OK(find_entries(
      view, filter, [&](const StoredEntry& stored, const EntryView& seen) -> Result<bool> {
        if (!first) first = seen.topic_id;
        if (page.events.size() == limit) return false;
        if (seen.topic_id <= after) return true;
        SALLYPORT_TRY(StoredEvent event, event_of(stored, seen));
        event.topic = topic;
        page.events.push_back(std::move(event));
        return true;
      }));
  // The view of one agent has gaps of its own.
  if (from > 0 || filter.facets.contains(Facet::Agent)) return page;
  SALLYPORT_TRY(const std::uint64_t latest, latest_id(view, topic));
  const std::uint64_t kept = first.value_or(latest + 1);
  if (kept > after + 1) page.first_kept = kept;
  return page;
}

Result<std::string> cursor_key(const std::string& topic, const std::string& consumer) {
  SALLYPORT_CHECK_OK(core::check_topic_name(topic));
  if (!core::check_topic_name(consumer)) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("`{:.60}` is not a name of a consumer, use A-Z a-z 0-9 . _ -", consumer),
        "consumer");
  }
  return topic + '/' + consumer;
}

}  // namespace

Result<std::uint64_t> latest_id(ReadView& view, const std::string& topic) {
  const Filter filter = filter_of(topic);
  SALLYPORT_TRY(const std::optional<std::string> stored,
                view.fact("topic", filter.facets.at(Facet::Topic)));
  return number_from(stored);
}

Result<TopicPage> read_topic(LedgerStore& store, const std::string& topic, std::int64_t after,
                             std::size_t limit) {
  SALLYPORT_CHECK_OK(core::check_topic_name(topic));
  if (after < 0) {
    return fail(ErrorCode::InvalidInput, "`after` is negative, ids count from 1", "after");
  }
  TopicPage page;
  SALLYPORT_CHECK_OK(store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(page, read_page(view, topic, static_cast<std::uint64_t>(after), limit));
    return {};
  }));
  return page;
}

Result<Subscription> Subscription::open(LedgerStore& store, std::string topic, std::int64_t after,
                                        std::size_t queue) {
  SALLYPORT_TRY(const TopicPage none, read_topic(store, topic, after, 0));
  std::uint64_t latest = 0;
  SALLYPORT_CHECK_OK(store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(latest, latest_id(view, topic));
    return {};
  }));
  return Subscription(store, std::move(topic), static_cast<std::uint64_t>(after), latest, queue);
}

// A look that finds nothing new reads one fact. Other looks read only what was written since the
// last one: the topic of one agent shares its numbers with other agents.
Result<std::vector<StoredEvent>> Subscription::read_new(std::size_t limit) {
  TopicPage page;
  SALLYPORT_CHECK_OK(store_->read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::uint64_t latest, latest_id(view, topic_));
    if (latest <= std::max(last_, seen_)) return {};
    SALLYPORT_TRY(page, read_page(view, topic_, last_, limit, searched_to_));
    if (page.events.size() == limit) return {};
    SALLYPORT_TRY(const std::uint64_t size, view.size());
    seen_ = latest;
    searched_to_ = size - 1;
    return {};
  }));
  return std::move(page.events);
}

void Subscription::take(StoredEvent event) {
  last_ = event.id;
  searched_to_ = std::max(searched_to_, event.sequence);
  waiting_.emplace_back(std::move(event));
}

Result<void> Subscription::pump() {
  if (ended_ || last_ < history_to_) return {};
  SALLYPORT_TRY(std::vector<StoredEvent> events, read_new(queue_ - waiting_.size() + 1));
  for (StoredEvent& event : events) {
    if (waiting_.size() == queue_) {
      waiting_.emplace_back(Lagged{last_});
      ended_ = true;
      return {};
    }
    take(std::move(event));
  }
  return {};
}

Result<std::optional<Subscription::Message>> Subscription::next() {
  if (waiting_.empty() && !ended_ && last_ < history_to_) {
    SALLYPORT_TRY(std::vector<StoredEvent> events, read_new(kPage));
    // The rest of the history was removed meanwhile.
    if (events.empty()) last_ = history_to_;
    for (StoredEvent& event : events) take(std::move(event));
  }
  if (waiting_.empty() && !ended_) SALLYPORT_CHECK_OK(pump());
  if (waiting_.empty()) return std::nullopt;
  Message message = std::move(waiting_.front());
  waiting_.pop_front();
  return message;
}

Result<std::uint64_t> cursor_of(LedgerStore& store, const std::string& topic,
                                const std::string& consumer) {
  SALLYPORT_TRY(const std::string key, cursor_key(topic, consumer));
  std::uint64_t id = 0;
  SALLYPORT_CHECK_OK(store.read([&](ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const std::optional<std::string> stored, view.fact(kCursorSpace, key));
    id = number_from(stored);
    return {};
  }));
  return id;
}

Result<void> move_cursor(Ledger& ledger, const std::string& topic, const std::string& consumer,
                         std::uint64_t id) {
  SALLYPORT_TRY(const std::string key, cursor_key(topic, consumer));
  SALLYPORT_CHECK_OK(ledger.transact([&](WriteView& view) -> Result<std::vector<core::Draft>> {
    SALLYPORT_TRY(const std::optional<std::string> stored, view.fact(kCursorSpace, key));
    SALLYPORT_TRY(const std::uint64_t latest, latest_id(view, topic));
    const std::uint64_t now = number_from(stored);
    if (id < now) {
      return fail(ErrorCode::Conflict,
                  fmt::format("the cursor stands at {} and does not go back to {}", now, id));
    }
    if (id > latest) {
      return fail(ErrorCode::Conflict,
                  fmt::format("the latest event is {}, the cursor cannot pass it", latest));
    }
    SALLYPORT_CHECK_OK(view.put_fact({std::string(kCursorSpace), key, std::to_string(id)}));
    return std::vector<core::Draft>{};
  }));
  return {};
}

}  // namespace sallyport::ledger
