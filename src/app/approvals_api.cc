#include "app/approvals_api.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>

#include "app/answer_limits.h"
#include "app/approval_json.h"
#include "app/bearer.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/approval_request.h"
#include "ledger/topics.h"
#include "trust/approver_book.h"

namespace sallyport::app {

namespace {

namespace asio = boost::asio;
using net::ServerRequest;
using net::ServerResponse;

constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLargestAnswer = 64u << 10;
constexpr std::size_t kLargestBatch = 4u << 20;
constexpr std::size_t kMostItems = 1000;
constexpr std::size_t kMostValues = 100'000;  // of a batch
constexpr std::string_view kDoor = "http:token";

unsigned status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::InvalidInput:
      return 400;
    case ErrorCode::Unauthenticated:
      return 403;
    case ErrorCode::NotFound:
      return 404;
    case ErrorCode::Conflict:
      return error.cause == "binding_mismatch" ? 412 : 409;
    case ErrorCode::Exhausted:
      return 429;
    case ErrorCode::Unavailable:
      return 503;
    default:
      return 500;
  }
}

json::object error_json(const Error& error) {
  json::object said{{"error", error.message}};
  // Of a question that is no longer pending: what it is instead.
  if (error.code == ErrorCode::Conflict && error.cause != "binding_mismatch" &&
      !error.cause.empty()) {
    said["state"] = error.cause;
  }
  return said;
}

ServerResponse response_to(const Result<json::value>& said) {
  ServerResponse response = said ? ServerResponse::json(200, json::serialize(*said))
                                 : ServerResponse::json(status_of(said.error()),
                                                        json::serialize(error_json(said.error())));
  response.headers.emplace_back("cache-control", "no-store");
  return response;
}

ServerResponse unauthorized(const ServerRequest& request) {
  ServerResponse response = ServerResponse::json(
      401, bearer_of(request)
               ? R"({"error":"nobody is registered as reviewer with this token"})"
               : R"({"error":"the token of an approver belongs in `Authorization: Bearer`"})");
  response.headers.emplace_back("www-authenticate", "Bearer");
  return response;
}

std::optional<std::string> in_query(const ServerRequest& request, std::string_view name) {
  std::string_view rest = request.query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) != name || equals == std::string_view::npos) continue;
    if (equals + 1 < pair.size()) return std::string(pair.substr(equals + 1));
  }
  return std::nullopt;
}

// Who answers is whoever the token belongs to (AP-2).
Result<void> check_members(const json::object& body) {
  for (const json::key_value_pair& pair : body) {
    const std::string_view name = pair.key();
    constexpr std::string_view kKnown[] = {"request_id", "approved", "accepted",     "reason",
                                           "binding",    "answer",   "responded_at", "signature"};
    if (std::ranges::find(kKnown, name) != std::end(kKnown)) continue;
    return fail(ErrorCode::InvalidInput,
                name == "reviewer"
                    ? "who answers is whoever the token belongs to; leave `reviewer` out"
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
  if (words != nullptr && !words->is_string()) {
    return fail(ErrorCode::InvalidInput, "`answer` is a text");
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

}  // namespace

ApprovalsApi::Asked ApprovalsApi::asked_in(const ServerRequest& request) {
  std::string_view rest = std::string_view(request.path).substr(std::string_view(kPath).size());
  if (rest.starts_with('/')) rest.remove_prefix(1);
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return {std::string(rest), {}};
  return {std::string(rest.substr(0, slash)), std::string(rest.substr(slash + 1))};
}

Result<trust::Reviewer> ApprovalsApi::person_of(const ServerRequest& request) const {
  const auto token = bearer_of(request);
  if (!token || token->size() < kShortestToken) {
    return fail(ErrorCode::Unauthenticated, "no token");
  }
  SALLYPORT_TRY(const std::shared_ptr<const trust::Reviewers> people, parts_.people());
  const std::string digest = trust::token_digest(*token);
  const trust::Reviewer* found = nullptr;
  for (const trust::Reviewer& person : people->people) {
    const bool same = person.token && person.token->size() == digest.size() &&
                      sodium_memcmp(person.token->data(), digest.data(), digest.size()) == 0;
    if (same) found = &person;
  }
  if (found == nullptr) return fail(ErrorCode::Unauthenticated, "nobody is known by that token");
  if (!found->has_role("approver")) {
    return fail(ErrorCode::Unauthenticated,
                fmt::format("`{}` is not registered as approver", found->name), {}, "role");
  }
  return *found;
}

Async<std::optional<ServerResponse>> ApprovalsApi::refuse(ServerRequest& head) {
  const Result<trust::Reviewer> person = person_of(head);
  if (!person) {
    const bool known = person.error().cause == "role";
    if (person.error().code != ErrorCode::Unauthenticated || known) {
      co_return response_to(std::unexpected(person.error()));
    }
    co_return unauthorized(head);
  }
  const Asked asked = asked_in(head);
  const bool posts = asked.verb == "respond" || (asked.id == "batch" && asked.verb.empty());
  if (!asked.verb.empty() && asked.verb != "respond") {
    co_return ServerResponse::json(404, R"({"error":"nothing is here"})");
  }
  if (head.method != (posts ? "POST" : "GET")) {
    ServerResponse response =
        ServerResponse::json(405, R"({"error":"another method belongs here"})");
    response.headers.emplace_back("allow", posts ? "POST" : "GET");
    co_return response;
  }
  co_return std::nullopt;
}

Async<void> ApprovalsApi::handle(net::ServerExchange& exchange) {
  const ServerRequest& request = exchange.request();
  const Asked asked = asked_in(request);
  if (asked.id == "stream" && asked.verb.empty()) co_return co_await stream(exchange);
  if (request.method == "GET") {
    const auto said = asked.id.empty() ? list(request) : show(asked.id, request);
    co_await exchange.respond(response_to(said));
    co_return;
  }
  const std::size_t largest = asked.id == "batch" ? kLargestBatch : kLargestAnswer;
  if (request.body.size() > largest) {
    co_await exchange.respond(ServerResponse::json(
        413, fmt::format(R"({{"error":"an answer has at most {} bytes"}})", largest)));
    co_return;
  }
  co_await exchange.respond(response_to(co_await take(asked, request)));
}

Task<json::value> ApprovalsApi::take(Asked asked, const ServerRequest& request) {
  SALLYPORT_CO_TRY(trust::Reviewer person, person_of(request));
  SALLYPORT_CO_TRY(ParsedJson body,
                   parse_json(request.body, {.bytes = kLargestBatch, .values = kMostValues}));
  if (asked.id == "batch") co_return co_await batch(std::move(body.value), std::move(person));
  co_return co_await respond(std::move(asked.id), std::move(body.value), std::move(person));
}

// In the order of their risk; behind `after` in the order of their ids, page by page.
Result<json::value> ApprovalsApi::list(const ServerRequest& request) const {
  const auto kind = in_query(request, "kind");
  const std::string state = in_query(request, "state").value_or("pending");
  const auto after = in_query(request, "after");
  SALLYPORT_TRY(std::vector<ApprovalItem> items,
                approval_items(parts_.ledger, {.kind = kind, .state = state}, parts_.clock.wall()));
  if (after) {
    std::ranges::sort(items, {}, &ApprovalItem::id);
    std::erase_if(items, [&](const ApprovalItem& item) { return item.id <= *after; });
  }
  const bool more = items.size() > kMostItems;
  if (more) items.erase(items.begin() + kMostItems, items.end());
  json::array all;
  for (const ApprovalItem& item : items) all.push_back(to_json(item));
  if (kind.value_or("escalation") == "escalation" && (state == "pending" || state == "all")) {
    SALLYPORT_TRY(const auto escalations, core::waiting_escalations(parts_.ledger));
    for (const EscalationItem& item : escalations) all.push_back(to_json(item));
  }
  return json::object{{"approvals", std::move(all)}, {"more", more}};
}

// With the exact input: whoever comes as far as this has shown the token of an approver.
Result<json::value> ApprovalsApi::show(const std::string& id, const ServerRequest& request) const {
  SALLYPORT_TRY(const trust::Reviewer person, person_of(request));
  SALLYPORT_TRY(const auto escalation, core::waiting_escalation(parts_.ledger, id));
  if (escalation) return to_json(*escalation);
  SALLYPORT_TRY(ApprovalItem item, approval_item(parts_.ledger, id, parts_.clock.wall()));
  const Result<void> revealed = reveal(
      parts_.ledger, [&](std::string_view sealed) { return parts_.ledger.decrypt(sealed); },
      person.name, item);
  // An approver who may not answer this one still sees that it is there.
  if (!revealed && revealed.error().code != ErrorCode::Unauthenticated) {
    return std::unexpected(revealed.error());
  }
  SALLYPORT_TRY(json::value result, result_of_approval(parts_.ledger, id));
  return page_json(item, std::move(result));
}

Task<json::value> ApprovalsApi::respond(std::string id, json::value body, trust::Reviewer person) {
  const json::object* const given = body.if_object();
  if (given == nullptr) co_return fail(ErrorCode::InvalidInput, "an answer is an object");
  SALLYPORT_CO_CHECK_OK(check_members(*given));
  if (text_in(*given, "request_id").value_or(id) != id) {
    co_return fail(ErrorCode::InvalidInput, "`request_id` names another question");
  }
  if (const auto accepted = bool_in(*given, "accepted")) {
    if (person.key) {
      co_return fail(
          ErrorCode::Unauthenticated,
          fmt::format("`{}` has a key, and nothing that settles an escalation is signed; "
                      "use `sallyport approvals accept`",
                      person.name));
    }
    SALLYPORT_CO_CHECK_OK(co_await parts_.governor.escalations().settle(
        id, *accepted, person.name, text_or_empty(*given, "reason")));
    co_return json::object{{"request_id", id}, {"accepted", *accepted}};
  }
  co_return co_await answer(std::move(id), *given, std::move(person));
}

// Whoever has said yes very often names what he says yes to (AP-43).
Result<void> ApprovalsApi::check_haste(const std::string& person) const {
  SALLYPORT_TRY(const std::size_t recent,
                recent_approvals(parts_.ledger.store(), person, parts_.clock.wall()));
  if (recent < kHastyApprovals) return {};
  return fail(ErrorCode::Exhausted,
              fmt::format("{} approvals in ten minutes: the next ones say `binding`", recent));
}

// A yes to a command of which a part was redacted names what was seen.
Result<void> ApprovalsApi::check_seen(const ApprovalItem& item) {
  if (!core::any_command(item.hidden)) return {};
  return fail(ErrorCode::Exhausted,
              fmt::format("redaction hides a part of this command: look at `exact_input` of "
                          "GET {}/{}, then say `binding`",
                          kPath, item.id));
}

// `approved` is a yes only as the JSON value true (AP-12).
Task<json::value> ApprovalsApi::answer(std::string id, json::object body, trust::Reviewer person) {
  SALLYPORT_CO_CHECK_OK(check_verdict(body));
  const auto words = text_in(body, "answer");
  SALLYPORT_CO_TRY(const ApprovalItem item, approval_item(parts_.ledger, id, parts_.clock.wall()));
  const std::string asked = text_or_empty(item.request, "binding");
  const bool yes = words || bool_in(body, "approved").value_or(false);
  if (yes && !body.contains("binding")) {
    SALLYPORT_CO_CHECK_OK(check_seen(item));
    SALLYPORT_CO_CHECK_OK(check_haste(person.name));
  }
  Reply reply{.kind = yes ? Reply::Kind::Approved : Reply::Kind::Denied,
              .by = person.name,
              .reason = text_or_empty(body, "reason"),
              .door = std::string(kDoor),
              .binding = std::string(text_in(body, "binding").value_or(asked)),
              .responded_at = text_or_empty(body, "responded_at"),
              .signature = text_or_empty(body, "signature"),
              .answer = std::string(words.value_or(""))};
  if (reply.signature.empty() || reply.responded_at.empty()) {
    reply.responded_at = trust::whole_seconds(parts_.clock.wall());
  }
  // Whether it is the registered key is looked at where the answer is taken (AP-44).
  if (!person.key && !reply.signature.empty()) {
    co_return fail(ErrorCode::Unauthenticated,
                   fmt::format("no key of `{}` is registered; leave `signature` out", person.name));
  }
  SALLYPORT_CO_CHECK_OK(co_await parts_.governor.approvals().answer(id, std::move(reply)));
  SALLYPORT_CO_TRY(auto state, parts_.governor.approvals().state(id));
  // The call that waited may have run by now; what the answer did is that it was approved.
  if (state && state->word == "used") state->word = "approved";
  co_return json::object{{"request_id", id}, {"state", state ? state->word : "pending"}};
}

// Each with its own verdict and the binding of what was seen; they succeed or fail one by one, and
// there is no "approve all" (AP-42).
Task<json::value> ApprovalsApi::batch(json::value body, trust::Reviewer person) {
  const json::array* const items = body.if_array();
  if (items == nullptr || items->empty() || items->size() > kMostItems) {
    co_return fail(ErrorCode::InvalidInput,
                   fmt::format("a batch is a list of 1 to {} answers", kMostItems));
  }
  json::array answers;
  for (const json::value& value : *items) {
    const json::object* const item = value.if_object();
    const std::string id(item ? text_in(*item, "request_id").value_or("") : "");
    Result<json::value> said =
        fail(ErrorCode::InvalidInput,
             "an answer says `request_id`, `approved` and `binding`, each for itself");
    const bool whole = !id.empty() && text_in(*item, "binding") && item->contains("approved") &&
                       !item->contains("accepted");
    if (whole) {
      const bool yes = bool_in(*item, "approved").value_or(false);
      const auto asked = approval_item(parts_.ledger, id, parts_.clock.wall());
      const Result<void> fits = asked && yes ? may_be_listed(parts_.ledger.store(), asked->request,
                                                             person.name, parts_.clock.wall())
                                             : Result<void>{};
      said = fits ? co_await respond(id, value, person) : std::unexpected(fits.error());
    }
    json::object told{{"request_id", id}, {"ok", said.has_value()}};
    if (said) told["state"] = said->at("state");
    if (!said) told["status"] = status_of(said.error());
    if (!said) {
      for (const auto& member : error_json(said.error())) told[member.key()] = member.value();
    }
    answers.push_back(std::move(told));
  }
  co_return json::object{{"answers", std::move(answers)}};
}

// What happens to questions from now on, until the reader goes or we do.
Async<void> ApprovalsApi::stream(net::ServerExchange& exchange) {
  constexpr std::chrono::milliseconds kLook{250};
  constexpr int kQuietLooks = 60;
  if (streams_ >= kMostStreams) {
    co_await exchange.respond(ServerResponse::json(503, R"({"error":"too many streams"})"));
    co_return;
  }
  ++streams_;
  const std::shared_ptr<void> place(nullptr, [this](void*) { --streams_; });
  std::vector<ledger::Subscription> topics;
  for (const char* const topic :
       {"hitl.questions", "hitl.approvals", "hitl.dual_control", "hitl.escalations"}) {
    std::uint64_t latest = 0;
    (void)parts_.ledger.store().read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(latest, ledger::latest_id(view, topic));
      return {};
    });
    auto news =
        ledger::Subscription::open(parts_.ledger.store(), topic, static_cast<std::int64_t>(latest));
    if (news) topics.push_back(std::move(*news));
  }
  ServerResponse head{.headers = {{"content-type", "text/event-stream"},
                                  {"cache-control", "no-store"},
                                  {"x-accel-buffering", "no"}}};
  bool reads = co_await exchange.begin(std::move(head)) && co_await exchange.write(": open\n\n");
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (int quiet = 0; reads && !exchange.gone() && !parts_.stopping(); ++quiet) {
    std::string text;
    bool lagged = false;  // then this is the last that is said (LG-5)
    for (ledger::Subscription& news : topics) {
      (void)news.pump();
      for (auto message = news.next(); message && *message; message = news.next()) {
        const auto* const event = std::get_if<StoredEvent>(&**message);
        lagged = lagged || event == nullptr;
        text += event ? event_text(*event) : lagged_text(std::get<Lagged>(**message));
      }
    }
    if (text.empty() && quiet >= kQuietLooks) text = ": still here\n\n";
    if (!text.empty()) {
      quiet = 0;
      reads = co_await exchange.write(std::move(text)) && !lagged;
    }
    timer.expires_after(kLook);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    // Whoever was struck off meanwhile hears no more.
    reads = reads && person_of(exchange.request()).has_value();
  }
}

}  // namespace sallyport::app
