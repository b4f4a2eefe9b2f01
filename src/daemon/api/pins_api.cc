#include "daemon/api/pins_api.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "api/schema.h"
#include "base/json_members.h"
#include "base/try.h"
#include "daemon/api/listed.h"
#include "ledger/read/store_reader.h"
#include "records/pin_list.h"

namespace sallyport::app {

namespace {

namespace schema = api::schema;
using api::Role;

json::object pin_schema() {
  return schema::object({{"server", schema::text()},
                         {"tool", schema::text()},
                         {"hash", schema::text()},
                         {"held", schema::truth()}},
                        {{"changed_hash", schema::text()}});
}

Result<mcp::Pin> pin_named(ledger::Ledger& ledger, const api::Request& request) {
  ledger::StoreReader records(ledger.store());
  const std::string& server = request.at("server");
  const std::string& tool = request.at("tool");
  SALLYPORT_TRY(std::optional<mcp::Pin> pin, mcp::find_pin(records, server, tool));
  if (pin) return std::move(*pin);
  return fail(ErrorCode::NotFound,
              fmt::format("no tool `{:.80}` of `{:.80}` is pinned", tool, server));
}

json::value or_null(const json::value* value) {
  return value == nullptr ? json::value() : *value;
}

// The change, for people who may see definitions.
Result<void> add_change(core::RecordReader& records, const mcp::Pin& pin, json::object& body) {
  const Result<PinChange> change = change_of(records, pin);
  if (!change) return std::unexpected(change.error());
  if (!change->before || !change->after) {
    body["definition_state"] = "erased";
    return {};
  }
  json::array members;
  for (const PinMember& one : differing(*change)) {
    members.push_back(json::object{
        {"name", one.name}, {"before", or_null(one.before)}, {"after", or_null(one.after)}});
  }
  body["before"] = *change->before;
  body["after"] = *change->after;
  body["members"] = std::move(members);
  return {};
}

}  // namespace

void PinsApi::add_to(api::HttpApi& api) {
  readers_ = &api.readers();
  const api::Read state = [this](const api::Request& request) { return show(request); };
  api.add({.method = "GET",
           .pattern = "pins",
           .roles = {Role::Viewer},
           .handler = on_log(parts_.ledger, std::bind_front(&PinsApi::list, this)),
           .words = {.name = "listPins",
                     .summary = "Lists the tools whose definitions are pinned",
                     .query = list_parameters(),
                     .response = schema::page(pin_schema())}});
  api.add({.method = "GET",
           .pattern = "pins/{server}/{tool}",
           .roles = {Role::Viewer},
           .handler = state,
           .words = {
               .name = "showPin",
               .summary = "Shows the definition of one tool and, if it changed, the new definition",
               .response = pin_schema()}});
  api.add({.method = "POST",
           .pattern = "pins/{server}/{tool}/accept",
           .roles = {Role::Controller},
           .handler = api::Act([this](api::Request request) { return accept(std::move(request)); }),
           .words = {.name = "acceptPin",
                     .summary = "Accepts the changed definition whose hash was shown",
                     .request = schema::exact({{"hash", schema::text()}}),
                     .response = pin_schema(),
                     .problems = {409}},
           .condition = state});
}

Result<api::Response> PinsApi::list(ledger::ReadView& view, const api::Request& request) const {
  ledger::StoreReader records(parts_.ledger.store());
  SALLYPORT_TRY(const std::vector<mcp::Pin> pins, mcp::all_pins(records));
  json::array rows;
  for (const bool held : {true, false}) {  // what waits for a person comes first
    for (const mcp::Pin& pin : pins) {
      if (pin.held() == held) rows.push_back(to_json(pin));
    }
  }
  SALLYPORT_TRY(const std::uint64_t size, view.size());
  return listed(request, "pins", size, std::move(rows));
}

Result<api::Response> PinsApi::show(const api::Request& request) const {
  SALLYPORT_TRY(const mcp::Pin pin, pin_named(parts_.ledger, request));
  ledger::StoreReader records(parts_.ledger.store());
  json::object body = to_json(pin);
  body["definition_state"] = "open";
  if (!may_read_controls(request.person)) {
    body["definition_state"] = "withheld";
    return api::Response{.body = std::move(body)};
  }
  SALLYPORT_CHECK_OK(
      parts_.opened.note(request.person, fmt::format("pins/{:.80}/{:.80}", pin.server, pin.tool)));
  if (pin.held()) {
    SALLYPORT_CHECK_OK(add_change(records, pin, body));
    return api::Response{.body = std::move(body)};
  }
  Result<json::value> definition = mcp::pinned_definition(records, pin.sequence);
  if (definition) {
    body["before"] = std::move(*definition);
  } else {
    body["definition_state"] = "erased";
  }
  return api::Response{.body = std::move(body)};
}

Task<api::Response> PinsApi::accept(api::Request request) const {
  const json::object* const body = request.body.if_object();
  const std::string shown(body ? text_in(*body, "hash").value_or("") : "");
  if (shown.empty()) {
    co_return fail(ErrorCode::InvalidInput, "`hash` names the definition that was shown", "hash");
  }
  std::function<Result<mcp::Pin>(const api::Readers::Wanted&)> find =
      [this, request](const api::Readers::Wanted&) { return pin_named(parts_.ledger, request); };
  SALLYPORT_CO_TRY(mcp::Pin pin, co_await readers_->run<mcp::Pin>(std::move(find)));
  if (!pin.held()) {
    co_return fail(ErrorCode::Conflict, "nothing of this tool waits to be accepted");
  }
  if (pin.changed_hash != shown) {
    co_return fail(ErrorCode::Conflict, "another definition waits than the one that was shown",
                   "hash", "precondition_failed");
  }
  std::string who = request.person.name;
  SALLYPORT_CO_CHECK_OK(co_await mcp::accept_pin(parts_.records, pin, std::move(who)));
  co_return api::Response{
      .body = json::object{
          {"server", pin.server}, {"tool", pin.tool}, {"hash", pin.changed_hash}, {"held", false}}};
}

}  // namespace sallyport::app
