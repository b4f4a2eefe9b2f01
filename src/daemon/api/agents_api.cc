#include "daemon/api/agents_api.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "api/schema.h"
#include "base/try.h"
#include "base/uuid.h"
#include "daemon/api/listed.h"
#include "ledger/read/store_reader.h"
#include "people/tier_change.h"
#include "records/prefix_view.h"
#include "records/trust_records.h"
#include "trust/approver_book.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;

json::object agent_schema() {
  return schema::object({{"agent", schema::text()},
                         {"tier", schema::text()},
                         {"source", schema::text()},
                         {"score", schema::object()}});
}

json::object statement_schema() {
  return schema::exact({{"action", schema::one_of({"trust.promote", "trust.demote"})},
                        {"agent", schema::text()},
                        {"control_id", schema::text()},
                        {"from_tier", schema::text()},
                        {"ledger", schema::text()},
                        {"reviewer", schema::text()},
                        {"schema", schema::one_of({"sallyport.control.v1"})},
                        {"signature", schema::text()},
                        {"signed_at", schema::text()},
                        {"to_tier", schema::text()}});
}

// The signed text is about this agent, this log and the person who sends it.
Result<void> check_about(const trust::ControlStatement& statement, const api::Request& request,
                         const std::string& origin) {
  if (statement.agent != request.at("id")) {
    return fail(ErrorCode::InvalidInput, "the statement is about another agent", "agent");
  }
  if (statement.ledger != origin) {
    return fail(ErrorCode::InvalidInput, "the statement is for another ledger", "ledger");
  }
  if (statement.reviewer != request.person.name) {
    return fail(ErrorCode::Unauthenticated, "the statement is signed by another person",
                "reviewer");
  }
  return {};
}

}  // namespace

void AgentsApi::add_to(api::HttpApi& api) {
  const auto add = [&](const char* pattern, const char* name, const char* summary,
                       Result<api::Response> (AgentsApi::*look)(ledger::ReadView&, const Request&)
                           const,
                       std::vector<api::Parameter> query, json::object response) {
    api.add({.method = "GET",
             .pattern = pattern,
             .roles = {Role::Viewer},
             .handler = on_log(parts_.ledger, std::bind_front(look, this)),
             .words = {.name = name,
                       .summary = summary,
                       .query = std::move(query),
                       .response = std::move(response)}});
  };
  add("agents", "listAgents", "Lists the agents that have a trust record", &AgentsApi::list,
      list_parameters(), schema::page(agent_schema()));
  add("agents/{id}", "showAgent",
      "Shows the tier of an agent, its source, and the counts of `trust show`", &AgentsApi::show,
      {}, agent_schema());
  add("agents/{id}/trust", "showTrust",
      "Shows the score of an agent over time, and its newest records", &AgentsApi::trust_of, {},
      schema::object({{"history", schema::list(schema::object())},
                      {"records", schema::list(schema::object())}}));
  add("agents/{id}/proposals", "listProposals",
      "Lists the tier changes that the record of an agent suggests, with their evidence",
      &AgentsApi::proposals, {}, schema::object({{"items", schema::list(schema::object())}}));
  api.add({.method = "POST",
           .pattern = "agents/{id}/tier",
           .roles = {Role::Controller},
           .handler = on_readers(api.readers(), std::bind_front(&AgentsApi::change, this)),
           .words = {.name = "changeTier",
                     .summary = "Changes the tier of an agent with a statement that you signed",
                     .request = statement_schema(),
                     .response = schema::object({{"agent", schema::text()},
                                                 {"control_id", schema::text()},
                                                 {"sequence", schema::number()}}),
                     .problems = {409}},
           .condition = on_log(parts_.ledger, std::bind_front(&AgentsApi::show, this))});
}

Result<AgentsApi::Agents> AgentsApi::agents(ledger::ReadView& view, const Request& request,
                                            std::optional<std::string> only) const {
  SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people());
  const trust::ApproverBook book(*people);
  ledger::StoreReader records(parts_.ledger.store());
  SALLYPORT_TRY(const DeclaredTiers declared, DeclaredTiers::read(records));
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  PrefixView wanted(view, size, request.wanted);
  return agents_of(wanted, records,
                   {.agent = std::move(only), .declared = declared, .people = &book});
}

Result<AgentTrust> AgentsApi::agent(ledger::ReadView& view, const Request& request) const {
  const std::string& id = request.at("id");
  SALLYPORT_TRY(Agents found, agents(view, request, id));
  AgentTrust& one = found.at(id);
  if (one.score.total == 0) {
    return fail(ErrorCode::NotFound, fmt::format("no record names the agent `{:.80}`", id));
  }
  return std::move(one);
}

Result<api::Response> AgentsApi::list(ledger::ReadView& view, const Request& request) const {
  SALLYPORT_TRY(const Agents found, agents(view, request, std::nullopt));
  json::array rows;
  for (const auto& [name, one] : found) {
    json::object row = to_json(one);
    row["proposes"] = one.proposal().has_value();
    rows.push_back(std::move(row));
  }
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  return listed(request, "agents", size, std::move(rows));
}

Result<api::Response> AgentsApi::show(ledger::ReadView& view, const Request& request) const {
  SALLYPORT_TRY(const AgentTrust one, agent(view, request));
  return api::Response{.body = to_json(one)};
}

Result<api::Response> AgentsApi::trust_of(ledger::ReadView& view, const Request& request) const {
  constexpr std::size_t kNewest = 50;
  SALLYPORT_TRY(const AgentTrust one, agent(view, request));
  std::deque<json::object> newest;
  SALLYPORT_CHECK_OK(each_trust_record(view, [&](const trust::TrustRecord& record) {
    if (record.agent != one.score.agent) return;
    newest.push_back(trust::to_json(record));
    if (newest.size() > kNewest) newest.pop_front();
  }));
  json::array records;
  for (auto it = newest.rbegin(); it != newest.rend(); ++it) records.push_back(std::move(*it));
  return api::Response{.body = json::object{{"agent", one.score.agent},
                                            {"history", to_json(one.history)},
                                            {"records", std::move(records)}}};
}

Result<api::Response> AgentsApi::proposals(ledger::ReadView& view, const Request& request) const {
  SALLYPORT_TRY(const AgentTrust one, agent(view, request));
  json::array items;
  if (const auto proposal = one.proposal()) items.push_back(to_json(*proposal, one));
  // The gate adds the members of a statement that only it knows.
  return api::Response{.body = json::object{{"items", std::move(items)},
                                            {"tier", to_string(one.tier.tier)},
                                            {"ledger", parts_.ledger.origin()}}};
}

Result<api::Response> AgentsApi::change(const Request& request) const {
  SALLYPORT_TRY(const SignedChange signed_one, signed_change_from(request.body, true));
  const trust::ControlStatement& statement = signed_one.statement;
  SALLYPORT_CHECK_OK(check_about(statement, request, parts_.ledger.origin()));
  SALLYPORT_TRY(const policy::ReviewerFile::List people, parts_.people());
  ledger::StoreReader records(parts_.ledger.store());
  SALLYPORT_TRY(const DeclaredTiers declared, DeclaredTiers::read(records));
  const auto fresh_id = [&] { return uuid7_text(parts_.clock, parts_.entropy); };
  SALLYPORT_TRY(
      const ledger::Positions written,
      parts_.ledger.transact([&](ledger::WriteView& view) -> Result<std::vector<core::Draft>> {
        SALLYPORT_TRY(const auto used, view.fact(kControlIds, statement.control_id));
        if (used) return fail(ErrorCode::Conflict, "this control id was used before; sign again");
        ChangeScene scene{.people = *people,
                          .declared = declared.of(statement.agent).tier,
                          .now = parts_.clock.wall()};
        SALLYPORT_TRY(scene.stored, view.fact(trust::kStandingSpace, statement.agent));
        SALLYPORT_TRY(core::Draft draft,
                      change_draft(signed_one, scene, fresh_id(), "trace-" + fresh_id()));
        return std::vector{std::move(draft)};
      }));
  return api::Response{.body = json::object{{"agent", statement.agent},
                                            {"control_id", statement.control_id},
                                            {"from_tier", to_string(statement.from_tier)},
                                            {"to_tier", to_string(statement.to_tier)},
                                            {"sequence", written.front().sequence}}};
}

}  // namespace sallyport::app
