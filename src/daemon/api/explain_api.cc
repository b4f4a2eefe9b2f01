#include "daemon/api/explain_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "api/schema.h"
#include "base/json_members.h"
#include "base/try.h"
#include "daemon/api/listed.h"
#include "policy/shipped.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;

json::object explanation_schema() {
  return schema::object({{"verdict", schema::text()},
                         {"would_run", schema::truth()},
                         {"decided_by", schema::or_null(schema::object())},
                         {"policy", schema::object()}});
}

// The policy that a client names: a kept or a shipped one, and never a file.
Result<ExplainOptions> options_for(std::optional<std::string> policy, ledger::LedgerStore& store) {
  ExplainOptions options;
  if (!policy || policy->empty()) return options;
  options.now = *policy == "now";
  if (options.now) return options;
  if (!policy->starts_with("sha256:") && policy::shipped_policy(*policy) == nullptr) {
    return fail(ErrorCode::InvalidInput,
                "`policy` is `now`, the hash of a kept policy or the name of a shipped one",
                "policy");
  }
  SALLYPORT_TRY(options.policy, policy_named(*policy, &store));
  return options;
}

// For people who may not read content: what decided, without the content that it read.
json::object without_content(json::object whole) {
  constexpr std::string_view kOpen[] = {"verdict", "would_run",      "decided_by",
                                        "policy",  "classification", "autonomy"};
  json::object shown;
  json::array withheld;
  for (json::key_value_pair& member : whole) {
    if (std::ranges::find(kOpen, std::string_view(member.key())) != std::end(kOpen)) {
      shown[member.key()] = std::move(member.value());
    } else {
      withheld.emplace_back(member.key());
    }
  }
  shown["withheld"] = std::move(withheld);
  return shown;
}

}  // namespace

void ExplainApi::add_to(api::HttpApi& api) {
  const api::Roles roles{Role::Viewer, Role::Auditor};
  api.add({.method = "GET",
           .pattern = "calls/{id}/explain",
           .roles = roles,
           .handler =
               api::Read([this](const api::Request& request) { return explain_recorded(request); }),
           .words = {.name = "explainCall",
                     .summary = "Explains what decided a call, and what would change the decision",
                     .query = {{"policy",
                                "now, the hash of a kept policy or the name of a shipped one "
                                "[the policy of that time]",
                                schema::text()}},
                     .response = explanation_schema()}});
  api.add({.method = "POST",
           .pattern = "explain",
           .roles = roles,
           .handler = on_readers(api.readers(), std::bind_front(&ExplainApi::explain_given, this)),
           .words = {
               .name = "explainGiven",
               .summary = "Explains whether a call would run; does not run it",
               .request = schema::exact({{"call", schema::object()}}, {{"policy", schema::text()}}),
               .response = explanation_schema()}});
}

ExplainScene ExplainApi::scene() const {
  return {.store = &parts_.ledger.store(),
          .environment = parts_.environment,
          .data_dir = parts_.place.data_dir,
          .reviewers = parts_.place.reviewers_file()};
}

Result<api::Response> ExplainApi::explain_recorded(const api::Request& request) const {
  const std::string& id = request.at("id");
  ledger::LedgerStore& store = parts_.ledger.store();
  SALLYPORT_TRY(const ExplainOptions options, options_for(request.query.get("policy"), store));
  Result<AskedCall> asked = recorded_call(store, id);
  if (!asked && asked.error().code == ErrorCode::NotFound) {
    return fail(ErrorCode::NotFound, fmt::format("there is no call `{:.80}`", id));
  }
  if (!asked) return std::unexpected(asked.error());
  SALLYPORT_TRY(const Explained explained, explain(scene(), std::move(*asked), options));
  json::object body = explanation_json(explained);
  if (!request.person.reads_sealed())
    return api::Response{.body = without_content(std::move(body))};
  SALLYPORT_CHECK_OK(parts_.opened.note(request.person, fmt::format("calls/{:.80}/explain", id)));
  return api::Response{.body = std::move(body)};
}

// The input is the person's own. Files of this machine and the text of the policy are shown only to
// people who may read them, and that is recorded.
Result<api::Response> ExplainApi::explain_given(const api::Request& request) const {
  const json::object* const body = request.body.if_object();
  const json::value* const call = body ? body->if_contains("call") : nullptr;
  if (call == nullptr) {
    return fail(ErrorCode::InvalidInput, "`call` has agent, server, tool and input", "call");
  }
  ledger::LedgerStore& store = parts_.ledger.store();
  std::optional<std::string> named;
  if (const auto text = text_in(*body, "policy")) named = std::string(*text);
  SALLYPORT_TRY(AskedCall asked, asked_call(*call, "call"));
  ExplainScene around = scene();
  const bool reads = may_read_controls(request.person);
  around.sees_disk = reads;
  // If no policy is named, the one in force judges.
  if (!named || named->empty() || *named == "now") {
    SALLYPORT_TRY(named, parts_.ledger.fact("policy", "hash"));
  }
  SALLYPORT_TRY(const ExplainOptions options, options_for(named, store));
  SALLYPORT_TRY(const Explained explained, explain(around, std::move(asked), options));
  json::object described = explanation_json(explained);
  if (!reads) return api::Response{.body = without_content(std::move(described))};
  SALLYPORT_CHECK_OK(parts_.opened.note(request.person, "explain"));
  return api::Response{.body = std::move(described)};
}

}  // namespace sallyport::app
