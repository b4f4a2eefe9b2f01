#include "daemon/api/grants_api.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "api/schema.h"
#include "base/json_members.h"
#include "base/try.h"
#include "daemon/api/listed.h"
#include "ledger/read/store_reader.h"
#include "records/grant_list.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;

json::object grant_schema() {
  return schema::object({{"grant_id", schema::text()},
                         {"grant_digest", schema::text()},
                         {"parent", schema::or_null(schema::text())},
                         {"principal", schema::text()},
                         {"expires_at", schema::number()},
                         {"uses", schema::number()},
                         {"holds", schema::number()},
                         {"state", schema::text()}});
}

}  // namespace

void GrantsApi::add_to(api::HttpApi& api) {
  readers_ = &api.readers();
  const api::Read state = [this](const api::Request& request) { return show(request); };
  api.add({.method = "GET",
           .pattern = "grants",
           .roles = {Role::Viewer},
           .handler = on_log(parts_.ledger, std::bind_front(&GrantsApi::list, this)),
           .words = {.name = "listGrants",
                     .summary = "Lists the tokens that were issued or seen, as `grants list` does",
                     .query = list_parameters(),
                     .response = schema::page(grant_schema())}});
  api.add({.method = "GET",
           .pattern = "grants/{id}",
           .roles = {Role::Viewer},
           .handler = state,
           .words = {.name = "showGrant",
                     .summary = "Shows one token, and the tokens that were narrowed from it",
                     .response = grant_schema()}});
  api.add({.method = "POST",
           .pattern = "grants/{id}/revoke",
           .roles = {Role::Controller},
           .handler = api::Act([this](api::Request request) { return revoke(std::move(request)); }),
           .words = {.name = "revokeGrant",
                     .summary = "Revokes a token, with a reason",
                     .request = schema::exact({{"reason", schema::text()}}),
                     .response = schema::object({{"grant_id", schema::text()},
                                                 {"known", schema::truth()},
                                                 {"revoked", schema::truth()},
                                                 {"sequence", schema::number()}}),
                     .problems = {409}},
           .condition = state});
}

Result<api::Response> GrantsApi::list(ledger::ReadView& view, const api::Request& request) const {
  ledger::StoreReader records(parts_.ledger.store());
  SALLYPORT_TRY(const std::vector<GrantRow> rows, grant_rows(records, parts_.clock.wall()));
  json::array all;
  for (const GrantRow& row : rows) all.push_back(to_json(row));
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  return listed(request, "grants", size, std::move(all));
}

Result<api::Response> GrantsApi::show(const api::Request& request) const {
  ledger::StoreReader records(parts_.ledger.store());
  SALLYPORT_TRY(const std::vector<GrantRow> rows, grant_rows(records, parts_.clock.wall()));
  const std::string& id = request.at("id");
  for (const GrantRow& row : rows) {
    if (row.token.id != id) continue;
    json::object body = to_json(row);
    json::array children;
    for (const GrantRow& other : rows) {
      if (other.token.parent == row.token.digest) children.emplace_back(other.token.id);
    }
    body["children"] = std::move(children);
    return api::Response{.body = std::move(body)};
  }
  return fail(ErrorCode::NotFound, fmt::format("no grant `{:.80}` is known", id));
}

Task<api::Response> GrantsApi::revoke(api::Request request) const {
  const json::object* const body = request.body.if_object();
  std::string reason(body ? text_in(*body, "reason").value_or("") : "");
  if (reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    co_return fail(ErrorCode::InvalidInput, "`reason` is missing", "reason", "reason_needed");
  }
  const std::string id = request.at("id");
  std::function<Result<Revocation>(const api::Readers::Wanted&)> make =
      [this, id, reason, who = request.person.name](const api::Readers::Wanted&) {
        ledger::StoreReader records(parts_.ledger.store());
        return revocation(records, id, who, reason);
      };
  SALLYPORT_CO_TRY(Revocation revoked, co_await readers_->run<Revocation>(std::move(make)));
  core::Draft& draft = revoked.draft;
  // Still not revoked at that very moment.
  core::Fact before = draft.facts.front();
  std::vector<core::Fact> expected{{before.space, before.key, std::nullopt}};
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(draft));
  SALLYPORT_CO_TRY(const std::vector<core::Position> written,
                   co_await parts_.records.append(std::move(drafts), core::Urgency::Announces,
                                                  std::move(expected)));
  co_return api::Response{.body = json::object{{"grant_id", id},
                                               {"known", revoked.known},
                                               {"revoked", true},
                                               {"sequence", written.front().sequence}}};
}

}  // namespace sallyport::app
