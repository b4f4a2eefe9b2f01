#include "daemon/api/stream_api.h"

#include <fmt/format.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <charconv>
#include <set>

#include "api/schema.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/record/stored_record.h"
#include "daemon/gate_health.h"
#include "records/entry_text.h"
#include "records/record_rows.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;
namespace schema = api::schema;
using api::Role;

constexpr std::uint64_t kLastSequence = (1ull << 53) - 1;
constexpr std::uint64_t kMostBehind = 5000;  // then the stream ends, and says so
constexpr std::uint64_t kAtOnce = 500;
constexpr std::chrono::milliseconds kLook{250};  // everything but new entries is looked for
constexpr std::chrono::seconds kQuiet{15};

struct Wanted {
  std::set<std::string> topics{};
  std::optional<std::uint64_t> after{};
};

Result<Wanted> wanted_in(const api::Request& request, const net::ServerRequest& http) {
  Wanted wanted;
  const std::string topics = request.query.get("topics").value_or("approvals,calls,entries,health");
  std::string_view rest = topics;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (one != "approvals" && one != "calls" && one != "entries" && one != "health" &&
        one != "backtests") {
      return fail(ErrorCode::InvalidInput,
                  "a topic is approvals, calls, entries, health or backtests", "topics");
    }
    wanted.topics.emplace(one);
  }
  SALLYPORT_TRY(wanted.after, request.query.number("after", 0, kLastSequence));
  // After a reconnect, the header of the client is newer than `after` in the address.
  if (const auto last = http.header("last-event-id")) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(last->data(), last->data() + last->size(), id);
    if (error != std::errc{} || end != last->data() + last->size() || id > kLastSequence) {
      return fail(ErrorCode::InvalidInput, "`Last-Event-ID` must be a sequence number",
                  "last-event-id");
    }
    wanted.after = id;
  }
  return wanted;
}

Async<void> rest(asio::steady_timer& timer) {
  timer.expires_after(LogSize::kBeat);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

std::string frame(std::string_view event, std::uint64_t id, const json::value& data) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, event, json::serialize(data));
}

}  // namespace

// Reads the news since the last look. Used on one thread of the readers at a time.
class StreamApi::News {
 public:
  News(Parts& parts, api::Person person, Wanted wanted)
      : parts_(parts), person_(std::move(person)), wanted_(std::move(wanted)) {}

  struct Update {
    std::string text{};
    bool last = false;
    std::uint64_t next = 0;  // the first entry that has not been sent
  };
  Result<Update> look() {
    Update update;
    if (wanted_.topics.contains("health")) SALLYPORT_CHECK_OK(add_health(update.text));
    if (wanted_.topics.contains("backtests")) add_backtests(update.text);
    bool opened = false;
    std::uint64_t end = 0;
    SALLYPORT_CHECK_OK(parts_.ledger.store().read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(const std::uint64_t size, view.size());
      if (!next_) next_ = std::min(wanted_.after ? *wanted_.after + 1 : size, size);
      if (size - *next_ > kMostBehind && began_) {
        update.text +=
            fmt::format("event: lagged\ndata: {}\n\n",
                        json::serialize(json::object{{"after", *next_ == 0 ? 0 : *next_ - 1},
                                                     {"missed", size - *next_},
                                                     {"size", size}}));
        update.last = true;
        end = *next_;
        return {};
      }
      end = std::min(size, *next_ + kAtOnce);
      SALLYPORT_CHECK_OK(
          view.scan(*next_, end, [&](const ledger::StoredEntry& stored) -> Result<bool> {
            SALLYPORT_CHECK_OK(add(stored, update.text, opened));
            return true;
          }));
      // Entries from before the stream began are no lag.
      began_ = began_ || end == size;
      return {};
    }));
    if (opened) SALLYPORT_CHECK_OK(parts_.opened.note(person_, "stream"));
    next_ = update.next = end;
    return update;
  }

 private:
  Result<void> add(const ledger::StoredEntry& stored, std::string& text, bool& opened) const {
    if (!stored.bytes) return {};
    SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
    const bool asks = wanted_.topics.contains("approvals") && entry.topic.starts_with("hitl.");
    const bool calls = wanted_.topics.contains("calls") && entry.kind == "tool_audit";
    if (asks || calls) {
      SALLYPORT_TRY(const OpenedEntry whole, open_entry(stored));
      if (asks) text += frame("approvals", stored.sequence, approval(entry, whole));
      if (calls) {
        json::object record = whole.entry.get_object();
        record["body"] = whole.body;
        SALLYPORT_TRY(const AuditRecord audit, core::audit_record_of(record));
        text += frame("calls", stored.sequence, call_row_json(cut_texts(call_row(audit)), person_));
        opened = opened || person_.reads_sealed();
      }
    }
    if (wanted_.topics.contains("entries")) {
      text += frame("entries", stored.sequence, entry_row(stored, entry));
    }
    return {};
  }

  static json::object approval(const ledger::EntryView& entry, const OpenedEntry& whole) {
    const json::object* const body = whole.body.if_object();
    const json::object* const payload = body ? object_in(*body, "payload") : nullptr;
    std::string id = body ? text_or_empty(*body, "request_id") : "";
    if (id.empty() && payload != nullptr) id = text_or_empty(*payload, "request_id");
    std::string kind = body ? text_or_empty(*body, "event") : "";
    if (kind.empty() && body != nullptr) kind = text_or_empty(*body, "kind");
    return {{"sequence", entry.sequence},
            {"kind", kind.empty() ? entry.kind : kind},
            {"topic", entry.topic},
            {"request_id", id},
            {"at", entry.recorded_at}};
  }

  Result<void> add_health(std::string& text) {
    SALLYPORT_TRY(json::object health, health_json(parts_.ledger));
    json::value state = health.at("banner");
    if (state == health_) return {};
    health_ = std::move(state);
    health["server_time"] = rfc3339(parts_.clock.wall());
    text += fmt::format("event: health\ndata: {}\n\n", json::serialize(health));
    return {};
  }

  void add_backtests(std::string& text) {
    json::array now = parts_.backtests();
    if (now == backtests_) return;
    backtests_ = std::move(now);
    text += fmt::format("event: backtests\ndata: {}\n\n",
                        json::serialize(json::object{{"items", backtests_}}));
  }

  Parts& parts_;
  api::Person person_;
  Wanted wanted_;
  std::optional<std::uint64_t> next_;
  bool began_ = false;  // has reached the end of the log once
  json::value health_;  // the banner that was sent last; null: none yet
  json::array backtests_;
};

void StreamApi::add_to(api::HttpApi& api) {
  readers_ = &api.readers();
  api.add({.method = "GET",
           .pattern = "stream",
           .roles = {Role::Viewer},
           .handler = api::Stream([this](api::Request request, net::ServerExchange& exchange,
                                         std::function<bool()> still) {
             return stream(std::move(request), exchange, std::move(still));
           }),
           .words = {.name = "streamNews",
                     .summary = "Streams what is written to the log, as it is written",
                     .query = {{"topics",
                                "any of approvals, calls, entries, health, backtests [all but "
                                "backtests]",
                                schema::text()},
                               {"after", "only entries after this sequence", schema::number()}},
                     .response = schema::text(),
                     .type = "text/event-stream"}});
  api.add({.method = "GET",
           .pattern = "health",
           .roles = api::Roles::all(),
           .handler = api::Read([this](const api::Request&) -> Result<api::Response> {
             SALLYPORT_TRY(json::object body, health_json(parts_.ledger));
             api::Response answer{.state = json::serialize(body)};
             body["server_time"] = rfc3339(parts_.clock.wall());
             answer.body = std::move(body);
             return answer;
           }),
           .words = {.name = "showHealth",
                     .summary = "Shows the current problems of the gate",
                     .response = schema::object({{"ok", schema::truth()},
                                                 {"server_time", schema::text()},
                                                 {"version", schema::text()},
                                                 {"size", schema::number()},
                                                 {"banner", schema::list(schema::object())}})}});
}

Async<void> StreamApi::stream(api::Request request, net::ServerExchange& exchange,
                              std::function<bool()> still) {
  Result<Wanted> wanted = wanted_in(request, exchange.request());
  if (!wanted || streams_ >= kMostStreams) {
    const api::Problem problem = wanted ? api::Problem{503, "busy", "too many streams", {}, {}}
                                        : api::problem_of(wanted.error());
    co_await exchange.respond(problem.response());
    co_return;
  }
  ++streams_;
  const std::shared_ptr<void> place(nullptr, [this](void*) { --streams_; });
  // Shared with a reader that may outlast this stream.
  const auto news = std::make_shared<News>(parts_, std::move(request.person), std::move(*wanted));
  std::function<Result<News::Update>(const api::Readers::Wanted&)> look =
      [news](const api::Readers::Wanted&) { return news->look(); };
  // The client reads what it missed once the stream is open. So the stream begins at an entry
  // before that.
  Result<News::Update> update = co_await readers_->run<News::Update>(look);
  if (!update) {
    co_await exchange.respond(api::problem_of(update.error()).response());
    co_return;
  }
  bool reads = co_await exchange.begin(api::stream_head()) &&
               co_await exchange.write(": open\n\n" + update->text) && !update->last;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  SteadyTime spoke = parts_.clock.steady();
  SteadyTime looked = spoke;
  std::uint64_t sent = update->next;  // entries below this sequence were sent
  while (reads && !exchange.gone() && !parts_.stopping()) {
    const std::uint64_t size = co_await parts_.size.newest(*readers_);
    if (size <= sent && parts_.clock.steady() - looked < kLook) {
      co_await rest(timer);
      continue;
    }
    looked = parts_.clock.steady();
    update = co_await readers_->run<News::Update>(look);
    // An abandoned read still runs, so the stream must not read again. After a failed read the
    // client reconnects with its last id.
    if (!update && update.error().cause != "busy") break;
    std::string text = update ? std::move(update->text) : std::string();
    const SteadyTime now = parts_.clock.steady();
    if (text.empty() && now - spoke >= kQuiet) {
      text = fmt::format(": {}\n\n", rfc3339(parts_.clock.wall()));
    }
    if (!text.empty()) {
      spoke = now;
      reads = co_await exchange.write(std::move(text)) && !(update && update->last);
    }
    if (update) sent = update->next;
    if (!update || sent >= size) co_await rest(timer);
    // A person who was removed from the list or has signed out gets no more (CO-24).
    reads = reads && still();
  }
}

}  // namespace sallyport::app
