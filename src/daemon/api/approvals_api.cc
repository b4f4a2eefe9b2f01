#include "daemon/api/approvals_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>

#include "api/schema.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval/approval_request.h"
#include "core/approval/doors.h"
#include "ledger/read/look_at.h"
#include "ledger/read/topics.h"
#include "people/answer_limits.h"
#include "trust/approver_book.h"
#include "trust/enrolments.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;
namespace schema = api::schema;
using net::ServerResponse;

constexpr std::size_t kLargestBatch = 4u << 20;
constexpr std::size_t kMostItems = 1000;

// The way in which the person was authenticated: a token or a session.
std::string door_of(const api::Person& person) {
  return std::string(person.session.empty() ? "http:token" : core::kConsoleDoor);
}

// The owner of the token answers (AP-2).
Result<void> check_members(const json::object& body) {
  for (const json::key_value_pair& pair : body) {
    const std::string_view name = pair.key();
    constexpr std::string_view kKnown[] = {"request_id", "approved", "accepted",     "reason",
                                           "binding",    "answer",   "responded_at", "signature"};
    if (std::ranges::find(kKnown, name) != std::end(kKnown)) {
      // Anything but `true` in `approved` is a refusal (AP-12).
      const bool verdict = name == "approved" || name == "accepted";
      if (verdict || pair.value().is_string()) continue;
      return fail(ErrorCode::InvalidInput, fmt::format("`{}` is a text", name), std::string(name));
    }
    return fail(ErrorCode::InvalidInput, name == "reviewer"
                                             ? "the token says who answers; leave `reviewer` out"
                                             : fmt::format("unknown member `{:.80}`", name));
  }
  return {};
}

// A verdict about a call, or words for a question (AP-25).
Result<void> check_verdict(const json::object& body) {
  const json::value* const words = body.if_contains("answer");
  if (words == nullptr && !body.contains("approved")) {
    return fail(ErrorCode::InvalidInput,
                "an answer says `approved`, true or false; to a question it says `answer`");
  }
  if (words != nullptr && body.contains("approved")) {
    return fail(ErrorCode::InvalidInput, "`answer` and `approved` exclude each other");
  }
  return {};
}

std::string event_text(const StoredEvent& event) {
  return fmt::format("event: {}\nid: {}/{}\ndata: {}\n\n", event.kind, event.topic, event.id,
                     json::serialize(sallyport::to_json(event)));
}

std::string lagged_text(const Lagged& lagged) {
  return fmt::format("event: lagged\ndata: {}\n\n", json::serialize(sallyport::to_json(lagged)));
}

// A question that needs a passkey or the registered key cannot be answered by a session or token
// alone. A session alone cannot answer for a person who has a key.
Result<void> check_strength(const std::string& why, bool strong, bool is_signed,
                            const api::Person& person) {
  if (why == "strong_needed" && !strong) {
    return fail(ErrorCode::Unauthenticated,
                "this question needs a passkey, or the command line with a registered key", {},
                "strong_needed");
  }
  // An answer with a token that lacks its signature is refused where it is taken, on record.
  if (why == "key_needed" && !is_signed && !person.session.empty()) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("`{}` has a key, so the answer must be signed", person.name), {},
                "key_needed");
  }
  return {};
}

// True for the signature of a passkey, which is checked later, or of the registered key. False for
// that of a browser key.
bool is_strong(const core::ResponseStatement& statement, const std::string& signature,
               const trust::Reviewer* person) {
  if (signature.starts_with(trust::Assertion::kMark)) return true;
  return person != nullptr && person->key &&
         trust::is_signature_of(statement.text(), signature, *person->key);
}

api::Act act(std::function<Task<json::value>(api::Request)> run) {
  return [run = std::move(run)](api::Request request) -> Task<api::Response> {
    SALLYPORT_CO_TRY(json::value body, co_await run(std::move(request)));
    co_return api::Response{.body = std::move(body)};
  };
}

json::object answer_schema() {
  return schema::exact({}, {{"request_id", schema::text()},
                            {"approved", schema::truth()},
                            {"accepted", schema::truth()},
                            {"answer", schema::text()},
                            {"reason", schema::text()},
                            {"binding", schema::text()},
                            {"responded_at", schema::text()},
                            {"signature", schema::text()}});
}

json::object answered_schema() {
  return schema::object({{"request_id", schema::text()}},
                        {{"state", schema::text()}, {"accepted", schema::truth()}});
}

}  // namespace

void ApprovalsApi::add_to(api::HttpApi& api) {
  readers_ = &api.readers();
  add_writes(api);
  api.add({.method = "GET",
           .pattern = "approvals/stream",
           .roles = {api::Role::Approver, api::Role::Viewer},
           .handler = api::Stream(
               [this](Request, net::ServerExchange& exchange, std::function<bool()> still) {
                 return stream(exchange, std::move(still));
               }),
           .words = {.name = "streamApprovals",
                     .summary = "Streams events about approval requests from now on",
                     .response = schema::text(),
                     .type = "text/event-stream"}});
  add_reads(api);
}

void ApprovalsApi::add_writes(api::HttpApi& api) {
  const api::Roles roles{api::Role::Approver};
  api::Read state = [this](const Request& request) { return show(request); };
  api.add({.method = "POST",
           .pattern = "approvals/{id}/respond",
           .roles = roles,
           .handler = act([this](Request request) -> Task<json::value> {
             std::string id = request.at("id");
             co_return co_await respond(std::move(id), std::move(request.body),
                                        std::move(request.person), false);
           }),
           .words = {.name = "respondToApproval",
                     .summary = "Answers an approval request",
                     .request = answer_schema(),
                     .response = answered_schema(),
                     .problems = {409}},
           .condition = state});
  api.add({.method = "POST",
           .pattern = "approvals/{id}/escalate",
           .roles = roles,
           .handler = act([this](Request request) { return escalate(std::move(request)); }),
           .words = {.name = "escalateApproval",
                     .summary = "Lets other reviewers answer an approval request too",
                     .request = schema::exact({{"to", schema::list(schema::text())}},
                                              {{"reason", schema::text()}}),
                     .response = schema::object({{"request_id", schema::text()},
                                                 {"escalated_to", schema::list(schema::text())}}),
                     .problems = {409}},
           .condition = state});
  api.add({.method = "POST",
           .pattern = "approvals/{id}/cancel",
           .roles = roles,
           .handler = act([this](Request request) { return cancel(std::move(request)); }),
           .words = {.name = "cancelApproval",
                     .summary = "Withdraws an approval request",
                     .request = schema::exact({}, {{"reason", schema::text()}}),
                     .response = answered_schema(),
                     .problems = {409}},
           .condition = state});
  api.add({.method = "POST",
           .pattern = "approvals/batch",
           .roles = roles,
           .body_bytes = kLargestBatch,
           .handler = act([this](Request request) { return batch(std::move(request)); }),
           .words = {.name = "answerApprovals",
                     .summary =
                         "Answers several approval requests, each with its own verdict and binding",
                     .request = schema::list(answer_schema()),
                     .response = schema::object({{"answers", schema::list(schema::object())}})}});
}

// Checks whether the person may give this answer. The desk checks the answer itself again.
Task<ApprovalItem> ApprovalsApi::item_to_answer(std::string id, api::Person person, Given given) {
  std::function<Result<ApprovalItem>(const api::Readers::Wanted&)> work =
      [this, id, person, given](const api::Readers::Wanted&) -> Result<ApprovalItem> {
    const WallTime now = parts_.clock.wall();
    ledger::LedgerStore& store = parts_.ledger.store();
    SALLYPORT_TRY(ApprovalItem item, approval_item(parts_.ledger, id, now));
    SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people());
    SALLYPORT_TRY(const std::string why,
                  why_not(item, person, *people, parts_.strong, [&](const ApprovalItem& one) {
                    return needs_own_look(store, one.request, one.state);
                  }));
    const trust::Reviewer* const known = people->find(person.name);
    const core::ResponseStatement statement{.request_id = id,
                                            .reviewer = person.name,
                                            .binding = text_or_empty(item.request, "binding"),
                                            .responded_at = given.responded_at,
                                            .approved = given.yes};
    const bool is_signed = !given.signature.empty();
    SALLYPORT_CHECK_OK(
        check_strength(why, is_strong(statement, given.signature, known), is_signed, person));
    if (given.yes && given.in_batch) {
      SALLYPORT_CHECK_OK(may_be_listed(store, item.request, item.state, person.name, now));
    }
    if (given.yes && !given.names_binding) {
      SALLYPORT_CHECK_OK(check_seen(
          item.hidden,
          fmt::format("look at `exact_input` of GET {}/{}, then send `binding`", kPath, item.id)));
      SALLYPORT_CHECK_OK(check_haste(store, person.name, now, "send `binding` with the next ones"));
    }
    // The desk checks later that it is the registered key (AP-44).
    if (is_signed && (known == nullptr || !known->key)) {
      return fail(ErrorCode::Unauthenticated,
                  fmt::format("no key of `{}` is registered; leave `signature` out", person.name));
    }
    return item;
  };
  co_return co_await readers_->run<ApprovalItem>(std::move(work));
}

Task<json::value> ApprovalsApi::respond(std::string id, json::value body, api::Person person,
                                        bool in_batch) {
  const json::object* const given = body.if_object();
  if (given == nullptr) co_return fail(ErrorCode::InvalidInput, "an answer must be an object");
  SALLYPORT_CO_CHECK_OK(check_members(*given));
  if (text_in(*given, "request_id").value_or(id) != id) {
    co_return fail(ErrorCode::InvalidInput, "`request_id` names another question");
  }
  if (const auto accepted = bool_in(*given, "accepted")) {
    SALLYPORT_CO_TRY(const policy::ReviewerFile::List people, parts_.people());
    const trust::Reviewer* const known = people->find(person.name);
    if (known != nullptr && known->key) {
      co_return fail(ErrorCode::Unauthenticated,
                     fmt::format("`{}` has a key, but this request has no signature; "
                                 "use `sallyport approvals accept`",
                                 person.name),
                     {}, "key_needed");
    }
    SALLYPORT_CO_CHECK_OK(co_await parts_.governor.escalations().settle(
        id, *accepted, person.name, text_or_empty(*given, "reason")));
    co_return json::object{{"request_id", id}, {"accepted", *accepted}};
  }
  co_return co_await answer(std::move(id), *given, std::move(person), in_batch);
}

// `approved` is a yes only as the JSON value true (AP-12).
Task<json::value> ApprovalsApi::answer(std::string id, json::object body, api::Person person,
                                       bool in_batch) {
  SALLYPORT_CO_CHECK_OK(check_verdict(body));
  const auto words = text_in(body, "answer");
  const bool yes = words || bool_in(body, "approved").value_or(false);
  PersonAnswer person_answer{.kind = yes ? Reply::Kind::Approved : Reply::Kind::Denied,
                             .by = person.name,
                             .door = door_of(person),
                             .reason = text_or_empty(body, "reason"),
                             .answer = std::string(words.value_or("")),
                             .responded_at = text_or_empty(body, "responded_at"),
                             .signature = text_or_empty(body, "signature")};
  const auto binding = text_in(body, "binding");
  if (binding) person_answer.binding = *binding;
  SALLYPORT_CO_CHECK_OK(co_await item_to_answer(id, person,
                                                {.yes = yes,
                                                 .names_binding = binding.has_value(),
                                                 .in_batch = in_batch,
                                                 .responded_at = person_answer.responded_at,
                                                 .signature = person_answer.signature}));
  SALLYPORT_CO_TRY(const ApprovalDesk::Recorded given,
                   co_await desk_.answer(id, std::move(person_answer)));
  co_return json::object{{"request_id", id}, {"state", to_string(given.state.status)}};
}

// Each with its own verdict and the binding of what was seen; they succeed or fail one by one, and
// there is no "approve all" (AP-42).
Task<json::value> ApprovalsApi::batch(Request request) {
  const json::array* const items = request.body.if_array();
  if (items == nullptr || items->empty() || items->size() > kMostItems) {
    co_return fail(ErrorCode::InvalidInput,
                   fmt::format("a batch is a list of 1 to {} answers", kMostItems));
  }
  json::array answers;
  for (const json::value& value : *items) {
    const json::object* const item = value.if_object();
    const std::string id(item ? text_in(*item, "request_id").value_or("") : "");
    Result<json::value> answered =
        fail(ErrorCode::InvalidInput, "each answer needs `request_id`, `approved` and `binding`");
    const bool whole = !id.empty() && text_in(*item, "binding") && item->contains("approved") &&
                       !item->contains("accepted");
    if (whole) answered = co_await respond(id, value, request.person, true);
    json::object row{{"request_id", id}, {"ok", answered.has_value()}};
    if (answered) row["state"] = answered->at("state");
    if (!answered) {
      const api::Problem problem = api::problem_of(answered.error());
      row["status"] = problem.status;
      row["code"] = problem.code;
      row["error"] = problem.detail;
      for (const auto& member : problem.more) row[member.key()] = member.value();
    }
    answers.push_back(std::move(row));
  }
  co_return json::object{{"answers", std::move(answers)}};
}

Task<json::value> ApprovalsApi::escalate(Request request) {
  constexpr std::size_t kMostNames = 64;
  const json::object* const body = request.body.if_object();
  const json::value* const to = body ? body->if_contains("to") : nullptr;
  const json::array* const names = to ? to->if_array() : nullptr;
  if (names == nullptr || names->empty() || names->size() > kMostNames) {
    co_return fail(ErrorCode::InvalidInput, "`to` is a list of 1 to 64 names", "to");
  }
  SALLYPORT_CO_TRY(const policy::ReviewerFile::List people, parts_.people());
  std::vector<std::string> approvers;
  for (const json::value& name : *names) {
    const trust::Reviewer* const known =
        name.is_string() ? people->find(std::string_view(name.get_string())) : nullptr;
    if (known == nullptr || !known->has_role("approver")) {
      co_return fail(ErrorCode::InvalidInput, "a name in `to` is not registered as approver", "to");
    }
    if (std::ranges::find(approvers, known->name) == approvers.end()) {
      approvers.push_back(known->name);
    }
  }
  const trust::Reviewer* const own = people->find(request.person.name);
  if (own != nullptr && own->key) {
    co_return fail(ErrorCode::Unauthenticated,
                   fmt::format("`{}` has a key, but an escalation over HTTP has no signature; "
                               "use `sallyport approvals escalate`",
                               own->name),
                   {}, "key_needed");
  }
  const std::string id = request.at("id");
  PersonAnswer person_answer{.by = request.person.name,
                             .door = door_of(request.person),
                             .reason = text_or_empty(*body, "reason")};
  SALLYPORT_CO_CHECK_OK(co_await desk_.escalate(id, approvers, std::move(person_answer)));
  co_return json::object{{"request_id", id}, {"escalated_to", json::value_from(approvers)}};
}

Task<json::value> ApprovalsApi::cancel(Request request) {
  const std::string id = request.at("id");
  const json::object* const body = request.body.if_object();
  SALLYPORT_CO_CHECK_OK(co_await item_to_answer(id, request.person, {}));
  PersonAnswer person_answer{.kind = Reply::Kind::Cancelled,
                             .by = request.person.name,
                             .door = door_of(request.person),
                             .reason = body ? text_or_empty(*body, "reason") : ""};
  SALLYPORT_CO_CHECK_OK(co_await desk_.answer(id, std::move(person_answer)));
  co_return json::object{{"request_id", id}, {"state", "cancelled"}};
}

namespace {

// Reads the topics of people one after the other, on a thread that may block.
class TopicNews {
 public:
  explicit TopicNews(ledger::LedgerStore& store) : store_(store) {}

  struct News {
    std::string text;
    bool lagged = false;  // then these are the last events (LG-5)
    bool whole = true;    // no read failed, so there is nothing more in a log of this size
  };
  Result<News> look() {
    if (topics_.empty()) return begin();
    News all;
    for (ledger::Subscription& topic : topics_) {
      const Result<void> queued = topic.pump();
      auto message = topic.next();
      for (; message && *message; message = topic.next()) {
        const auto* const event = std::get_if<StoredEvent>(&**message);
        all.lagged = all.lagged || event == nullptr;
        all.text += event ? event_text(*event) : lagged_text(std::get<Lagged>(**message));
      }
      all.whole = all.whole && queued && message;
    }
    return all;
  }

 private:
  Result<News> begin() {
    for (const char* const topic :
         {"hitl.questions", "hitl.approvals", "hitl.dual_control", "hitl.escalations"}) {
      SALLYPORT_TRY(const std::uint64_t latest, ledger::look_at(store_, [&](auto& view) {
                      return ledger::latest_id(view, topic);
                    }));
      SALLYPORT_TRY(ledger::Subscription news,
                    ledger::Subscription::open(store_, topic, static_cast<std::int64_t>(latest)));
      topics_.push_back(std::move(news));
    }
    return News{};
  }

  ledger::LedgerStore& store_;
  std::vector<ledger::Subscription> topics_;
};

}  // namespace

// Streams the events of questions from now on, until the client leaves or the server stops.
Async<void> ApprovalsApi::stream(net::ServerExchange& exchange, std::function<bool()> still) {
  // With the age of a size, an event appears within a quarter of a second.
  constexpr std::chrono::milliseconds kLook = std::chrono::milliseconds(250) - LogSize::kBeat;
  constexpr int kQuietLooks = 70;
  if (streams_ >= kMostStreams) {
    co_await exchange.respond(api::Problem{503, "busy", "too many streams", {}, {}}.response());
    co_return;
  }
  ++streams_;
  const std::shared_ptr<void> place(nullptr, [this](void*) { --streams_; });
  // Shared with a reader that may outlast this stream.
  const auto news = std::make_shared<TopicNews>(parts_.ledger.store());
  std::function<Result<TopicNews::News>(const api::Readers::Wanted&)> look =
      [news](const api::Readers::Wanted&) { return news->look(); };
  const Result<TopicNews::News> opened = co_await readers_->run<TopicNews::News>(look);
  if (!opened) {
    co_await exchange.respond(api::problem_of(opened.error()).response());
    co_return;
  }
  bool reads = co_await exchange.begin(api::stream_head()) && co_await exchange.write(": open\n\n");
  asio::steady_timer timer(co_await asio::this_coro::executor);
  std::uint64_t seen = 0;  // the size of the log when it was read last
  for (int quiet = 0; reads && !exchange.gone() && !parts_.stopping(); ++quiet) {
    const std::uint64_t size = co_await parts_.size.newest(*readers_);
    // An expiry is an entry too, so a log of the same size has no news.
    Result<TopicNews::News> now = TopicNews::News{};
    if (size != seen || quiet >= kQuietLooks) {
      now = co_await readers_->run<TopicNews::News>(look);
      // An abandoned read still runs, so the stream must not read again.
      if (!now && now.error().code == ErrorCode::Deadline) break;
      if (now && now->whole) seen = size;
    }
    std::string text = now ? std::move(now->text) : std::string();
    if (text.empty() && quiet >= kQuietLooks) text = ": still here\n\n";
    if (!text.empty()) {
      quiet = 0;
      reads = co_await exchange.write(std::move(text)) && !(now && now->lagged);
    }
    timer.expires_after(kLook);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    // A person who was removed from the list gets no more.
    reads = reads && still();
  }
}

}  // namespace sallyport::app
