#include "daemon/api/backtests_api.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "api/schema.h"
#include "base/json_members.h"
#include "base/try.h"
#include "daemon/api/listed.h"
#include "policy/policy.h"
#include "policy/shipped.h"
#include "records/selection.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;

constexpr std::int64_t kMostBacktested = 10'000;

json::object backtest_schema() {
  return schema::object(
      {{"id", schema::text()},
       {"who", schema::text()},
       {"policy", schema::text()},
       {"started_at", schema::text()},
       {"state", schema::one_of({"running", "done", "stopped", "failed"})},
       {"why", schema::or_null(schema::text())},
       {"read", schema::number()}},
      {{"summary", schema::or_null(schema::object())}, {"groups", schema::list(schema::object())}});
}

json::object backtest_request() {
  return schema::exact({}, {{"text", schema::text()},
                            {"policy", schema::text()},
                            {"against", schema::text()},
                            {"agent", schema::text()},
                            {"server", schema::text()},
                            {"tool", schema::text()},
                            {"since", schema::text()},
                            {"until", schema::text()},
                            {"last", schema::number()}});
}

std::optional<std::string> member_text(const json::object& body, const char* name) {
  const auto text = text_in(body, name);
  return text && !text->empty() ? std::optional(std::string(*text)) : std::nullopt;
}

// A client names a kept or a shipped policy, and never a file.
Result<NamedPolicy> kept_or_shipped(const std::string& name, ledger::LedgerStore& store) {
  if (!name.starts_with("sha256:") && policy::shipped_policy(name) == nullptr) {
    return fail(ErrorCode::InvalidInput,
                "a policy is the hash of a kept one or the name of a shipped one", "policy");
  }
  return policy_named(name, &store);
}

Result<std::size_t> most_in(const json::object& body) {
  const json::value* const last = body.if_contains("last");
  if (last == nullptr) return std::size_t{200};
  const std::int64_t* const count = last->if_int64();
  if (count == nullptr || *count < 1 || *count > kMostBacktested) {
    return fail(ErrorCode::InvalidInput, fmt::format("`last` is 1 to {}", kMostBacktested), "last");
  }
  return static_cast<std::size_t>(*count);
}

}  // namespace

void BacktestsApi::add_to(api::HttpApi& api) {
  api.add({.method = "POST",
           .pattern = "backtests",
           .roles = {Role::Controller},
           .body_bytes = PolicyDesk::kLargestText,
           .handler = on_readers(api.readers(), std::bind_front(&BacktestsApi::start, this)),
           .words = {.name = "startBacktest",
                     .summary =
                         "Decides recorded calls again under another policy, as `policy backtest` "
                         "does; runs and writes nothing",
                     .request = backtest_request(),
                     .response = schema::object({{"id", schema::text()}}),
                     .problems = {409},
                     .good = {202}}});
  api.add({.method = "GET",
           .pattern = "backtests",
           .roles = {Role::Viewer},
           .handler = on_log(parts_.ledger,
                             [this](ledger::ReadView& view,
                                    const api::Request& request) -> Result<api::Response> {
                               SALLYPORT_TRY(const std::uint64_t size, view.size());
                               return listed(request, "backtests", size, parts_.desk.list());
                             }),
           .words = {.name = "listBacktests",
                     .summary = "Lists the backtests of this process, newest first",
                     .query = list_parameters(),
                     .response = schema::page(backtest_schema())}});
  api.add({.method = "GET",
           .pattern = "backtests/{id}",
           .roles = {Role::Viewer},
           .handler = api::Read([this](const api::Request& request) -> Result<api::Response> {
             std::optional<json::object> body = parts_.desk.show(request.at("id"));
             if (!body) return fail(ErrorCode::NotFound, "there is no such backtest");
             return api::Response{.body = std::move(*body)};
           }),
           .words = {.name = "showBacktest",
                     .summary = "Shows the progress of a backtest, and its result",
                     .response = backtest_schema()}});
  api.add({.method = "DELETE",
           .pattern = "backtests/{id}",
           .roles = {Role::Controller},
           .handler = api::Act([this](api::Request request) -> Task<api::Response> {
             if (!parts_.desk.drop(request.at("id"))) {
               co_return fail(ErrorCode::NotFound, "there is no such backtest");
             }
             co_return api::Response{.status = 204};
           }),
           .words = {.name = "dropBacktest",
                     .summary = "Stops a running backtest, or deletes one that has ended"}});
}

// The text that a person edits, or a policy by its name.
Result<NamedPolicy> BacktestsApi::policy_in(const json::object& body) const {
  if (const auto text = member_text(body, "text")) {
    SALLYPORT_TRY(core::PolicyText texts, parts_.policies.text_from(*text));
    // Errors are reported now, and not later by a thread.
    SALLYPORT_TRY([[maybe_unused]] const policy::Policy good, policy::read_policy(texts, "policy"));
    return NamedPolicy{.name = "edited text", .text = std::move(texts)};
  }
  if (const auto name = member_text(body, "policy")) {
    return kept_or_shipped(*name, parts_.ledger.store());
  }
  return fail(ErrorCode::InvalidInput, "give `text`, or `policy` with a hash or a name", "text");
}

Result<api::Response> BacktestsApi::start(const api::Request& request) const {
  const json::object empty;
  const json::object* const given = request.body.if_object();
  const json::object& body = given ? *given : empty;
  BacktestTerms terms;
  SALLYPORT_TRY(terms.candidate, policy_in(body));
  if (const auto against = member_text(body, "against")) {
    SALLYPORT_TRY(terms.against, kept_or_shipped(*against, parts_.ledger.store()));
  }
  SALLYPORT_TRY(terms.filter, filter_from({.agent = member_text(body, "agent"),
                                           .server = member_text(body, "server"),
                                           .tool = member_text(body, "tool"),
                                           .since = member_text(body, "since"),
                                           .until = member_text(body, "until")},
                                          Spelling::Member));
  SALLYPORT_TRY(terms.most, most_in(body));
  SALLYPORT_TRY(const std::string id, parts_.desk.start(request.person.name, std::move(terms)));
  return api::Response{.status = 202, .body = json::object{{"id", id}}};
}

}  // namespace sallyport::app
