#include "daemon/api/policies_api.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "api/schema.h"
#include "app/agents/agent_config.h"
#include "base/json_members.h"
#include "base/try.h"
#include "daemon/api/listed.h"
#include "guardrails/document/schema.h"
#include "ledger/read/query.h"
#include "ledger/read/store_reader.h"
#include "ledger/read/stored_entry.h"
#include "policy/shipped.h"
#include "workbench/case_run.h"
#include "workbench/policy_report.h"
#include "workspace/config/config.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;

json::object text_schema() {
  return schema::exact({{"text", schema::text()}});
}

Result<std::string> text_of(const api::Request& request, const char* name) {
  const json::object* const body = request.body.if_object();
  const auto text = body ? text_in(*body, name) : std::nullopt;
  if (text) return std::string(*text);
  return fail(ErrorCode::InvalidInput, fmt::format("`{}` is a text", name), name);
}

// One row for each policy that was in force, the newest first.
Result<json::array> loaded_policies(ledger::ReadView& view, const std::string& in_force) {
  constexpr std::size_t kMostLoads = 2000;
  const ledger::Filter filter{.facets = {{ledger::Facet::Kind, "control"}},
                              .body = {{"control", json::value("policy_loaded")}}};
  SALLYPORT_TRY(const std::vector<ledger::StoredEntry> entries,
                ledger::newest_entries(view, filter, kMostLoads));
  json::array rows;
  std::set<std::string> seen;
  for (auto it = entries.rbegin(); it != entries.rend(); ++it) {
    SALLYPORT_TRY(const json::object entry, ledger::opened_entry(*it));
    const json::object* const body = object_in(entry, "body");
    if (body == nullptr) continue;
    const std::string hash = text_or_empty(*body, "hash");
    if (!seen.insert(hash).second) continue;
    rows.push_back(json::object{{"hash", hash},
                                {"source", text_or_empty(*body, "source")},
                                {"who", text_or_empty(*body, "who")},
                                {"loaded_at", text_or_empty(entry, "recorded_at")},
                                {"sequence", it->sequence},
                                {"in_force", hash == in_force}});
  }
  return rows;
}

const json::value* schema_named(std::string_view name) {
  static const json::value kPolicy = policy::policy_schema();
  static const json::value kGuardrails = guardrails::document_schema();
  static const json::value kConfig = config_schema();
  static const json::value kAgent = agent_config_schema();
  if (name == "policy") return &kPolicy;
  if (name == "guardrails") return &kGuardrails;
  if (name == "config") return &kConfig;
  return name == "agent" ? &kAgent : nullptr;
}

Result<api::Response> show_schema(const api::Request& request) {
  if (const json::value* const found = schema_named(request.at("name"))) {
    return api::Response{.body = *found};
  }
  return fail(ErrorCode::NotFound, "no such schema; use policy, guardrails, config or agent");
}

}  // namespace

api::Read PoliciesApi::read(Work work) const {
  return [this, work](const api::Request& request) { return (this->*work)(request); };
}

api::Act PoliciesApi::act(Work work) const {
  return on_readers(*readers_, std::bind_front(work, this));
}

void PoliciesApi::add_to(api::HttpApi& api) {
  readers_ = &api.readers();
  add_reads(api);
  add_writes(api);
}

void PoliciesApi::add_reads(api::HttpApi& api) const {
  const auto add = [&](const char* pattern, const char* name, const char* summary,
                       api::Read handler, json::object response,
                       std::vector<api::Parameter> query = {}) {
    api.add({.method = "GET",
             .pattern = pattern,
             .roles = {Role::Viewer},
             .handler = std::move(handler),
             .words = {.name = name,
                       .summary = summary,
                       .query = std::move(query),
                       .response = std::move(response)}});
  };
  add("policies", "listPolicies", "Lists the policies that were in force, newest first",
      read(&PoliciesApi::list),
      schema::page(schema::object({{"hash", schema::text()}, {"in_force", schema::truth()}})),
      list_parameters());
  add("policies/{hash}", "showPolicy", "Returns the text of the policy with this hash",
      read(&PoliciesApi::show),
      schema::object({{"hash", schema::text()},
                      {"text", schema::or_null(schema::text())},
                      {"text_state", schema::text()}}));
  add("policies/drafts/{name}", "showDraft", "Shows a draft", read(&PoliciesApi::show_draft),
      schema::object({{"name", schema::text()}, {"text", schema::or_null(schema::text())}}));
  add("schemas/{name}", "showSchema",
      "Returns the JSON Schema of policy, guardrails, config or agent", show_schema,
      schema::object());
}

void PoliciesApi::add_writes(api::HttpApi& api) const {
  const auto add = [&](const char* method, const char* pattern, const char* name,
                       const char* summary, api::Act handler, json::object request,
                       json::object response, api::Read condition = {}) {
    api.add({.method = method,
             .pattern = pattern,
             .roles = {Role::Controller},
             .body_bytes = PolicyDesk::kLargestText,
             .handler = std::move(handler),
             .words = {.name = name,
                       .summary = summary,
                       .request = std::move(request),
                       .response = std::move(response),
                       .problems = {409}},
             .condition = std::move(condition)});
  };
  add("POST", "policies/check", "checkPolicy",
      "Checks the text of a policy, as `policy check --json` does", act(&PoliciesApi::check),
      text_schema(), schema::object({{"valid", schema::truth()}}));
  add("POST", "policies/test", "testPolicy",
      "Tests the text of a policy with cases, as `policy test` does", act(&PoliciesApi::test),
      schema::exact({{"text", schema::text()}, {"cases", schema::text()}}),
      schema::object({{"passed", schema::number()},
                      {"failed", schema::number()},
                      {"cases", schema::list(schema::object())}}));
  add("PUT", "policies/drafts/{name}", "keepDraft", "Stores a draft; does not put it in force",
      act(&PoliciesApi::keep), text_schema(), schema::object({{"name", schema::text()}}),
      read(&PoliciesApi::show_draft));
  add(
      "POST", "policies/activate", "activatePolicy",
      "Replaces the file of the policy in force; `replaces` is the hash that was shown",
      [this](api::Request request) { return activate(std::move(request)); },
      schema::exact({{"text", schema::text()}, {"replaces", schema::text()}}),
      schema::object({{"hash", schema::text()},
                      {"hash_before", schema::text()},
                      {"in_force", schema::truth()}}));
}

Result<api::Response> PoliciesApi::list(const api::Request& request) const {
  const std::string in_force = parts_.gate.plans().current()->hash();
  json::array rows;
  std::uint64_t size = 0;
  SALLYPORT_CHECK_OK(parts_.gate.ledger().store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(rows, loaded_policies(view, in_force));
    SALLYPORT_TRY(size, view.size());
    return {};
  }));
  // The newest load says where the policy in force comes from.
  const std::string source = rows.empty() ? "" : text_or_empty(rows[0].as_object(), "source");
  SALLYPORT_TRY(api::Response answer, listed(request, "policies", size, std::move(rows)));
  SALLYPORT_TRY(const std::vector<std::string> drafts, parts_.desk.drafts());
  json::object& body = answer.body.get_object();
  body["drafts"] = json::value_from(drafts);
  body["writes"] = to_string(parts_.desk.writes());
  body["is_file"] = !source.empty() && policy::shipped_policy(source) == nullptr;
  return answer;
}

Result<api::Response> PoliciesApi::show(const api::Request& request) const {
  const std::string& hash = request.at("hash");
  ledger::StoreReader records(parts_.gate.ledger().store());
  SALLYPORT_TRY(const auto placed, records.fact(core::kPolicyText, hash));
  if (!placed) return fail(ErrorCode::NotFound, "no policy of this hash was ever in force here");
  json::object body{{"hash", hash},
                    {"in_force", hash == parts_.gate.plans().current()->hash()},
                    {"text", nullptr},
                    {"extends", nullptr},
                    {"text_state", "withheld"}};
  if (!may_read_controls(request.person)) return api::Response{.body = std::move(body)};
  SALLYPORT_CHECK_OK(parts_.opened.note(request.person, fmt::format("policies/{:.80}", hash)));
  SALLYPORT_TRY(const auto kept, core::kept_policy(records, hash));
  body["text_state"] = kept ? "open" : "erased";
  if (kept) {
    body["text"] = kept->text.text;
    body["source"] = kept->source;
    body["sequence"] = kept->sequence;
    if (!kept->text.base_name.empty()) {
      body["extends"] =
          json::object{{"name", kept->text.base_name}, {"text", kept->text.base_text}};
    }
  }
  return api::Response{.body = std::move(body)};
}

Result<api::Response> PoliciesApi::show_draft(const api::Request& request) const {
  const std::string& name = request.at("name");
  SALLYPORT_TRY(const std::string text, parts_.desk.draft(name));
  const bool open = may_read_controls(request.person);
  return api::Response{.body = json::object{{"name", name},
                                            {"text", open ? json::value(text) : json::value()},
                                            {"text_state", open ? "open" : "withheld"}}};
}

Result<api::Response> PoliciesApi::check(const api::Request& request) const {
  SALLYPORT_TRY(const std::string text, text_of(request, "text"));
  Result<core::PolicyText> texts = parts_.desk.text_from(text);
  Result<policy::Policy> read = texts ? policy::read_policy(std::move(*texts), "policy")
                                      : Result<policy::Policy>(std::unexpected(texts.error()));
  SALLYPORT_TRY(const PolicyReport report,
                report_on(std::move(read), parts_.environment, SystemClock()));
  return api::Response{.body = to_json(report)};
}

Result<api::Response> PoliciesApi::test(const api::Request& request) const {
  constexpr std::size_t kMostCases = 1000;
  SALLYPORT_TRY(const std::string text, text_of(request, "text"));
  SALLYPORT_TRY(const std::string cases, text_of(request, "cases"));
  SALLYPORT_TRY(core::PolicyText texts, parts_.desk.text_from(text));
  // Errors of the text are for the client to correct, and name their place.
  const auto theirs = [](Error error) {
    if (error.code == ErrorCode::Unavailable) error.code = ErrorCode::InvalidInput;
    return std::unexpected(std::move(error));
  };
  Result<CaseSuite> suite = suite_of_texts(std::move(texts), cases);
  if (!suite) return theirs(suite.error());
  if (suite->cases.size() > kMostCases) {
    return fail(ErrorCode::InvalidInput, "at most 1,000 cases at once", "cases");
  }
  CaseRun run(std::move(*suite));
  if (const Result<void> ran = run.run(); !ran) return theirs(ran.error());
  json::array outcomes;
  std::size_t failed = 0;
  for (const CaseOutcome& outcome : run.outcomes()) {
    failed += outcome.problem.empty() ? 0 : 1;
    outcomes.push_back(to_json(outcome));
  }
  const std::size_t passed = outcomes.size() - failed;
  return api::Response{
      .body = json::object{{"passed", passed}, {"failed", failed}, {"cases", std::move(outcomes)}}};
}

Result<api::Response> PoliciesApi::keep(const api::Request& request) const {
  const std::string& name = request.at("name");
  SALLYPORT_TRY(const std::string text, text_of(request, "text"));
  SALLYPORT_CHECK_OK(parts_.desk.keep(name, text));
  return api::Response{.body = json::object{{"name", name}}};
}

Task<api::Response> PoliciesApi::activate(api::Request request) const {
  SALLYPORT_CO_TRY(std::string text, text_of(request, "text"));
  SALLYPORT_CO_TRY(std::string replaces, text_of(request, "replaces"));
  PolicyDesk::Activation wanted{request.person.name, std::move(text), std::move(replaces)};
  SALLYPORT_CO_TRY(const PolicyDesk::Activated done,
                   co_await parts_.desk.activate(std::move(wanted)));
  co_return api::Response{.body = json::object{{"hash", done.hash},
                                               {"hash_before", done.hash_before},
                                               {"in_force", done.in_force}}};
}

}  // namespace sallyport::app
