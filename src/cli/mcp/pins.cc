// Tool definitions that were pinned, and the changes that wait for a person.
#include "mcp/server/pins.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "app/people/login.h"
#include "app/records/entry_text.h"
#include "app/records/pin_list.h"
#include "app/run_on.h"
#include "app/terminal/output.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/read/store_reader.h"

namespace sallyport::app {

namespace {

struct PinsOptions {
  std::optional<std::string> server;
  std::optional<std::string> tool;
  LoginOptions login;
};

bool wanted(const mcp::Pin& pin, const PinsOptions& options) {
  return (!options.server || *options.server == pin.server) &&
         (!options.tool || *options.tool == pin.tool);
}

Result<std::vector<mcp::Pin>> selected(core::RecordReader& records, const PinsOptions& options) {
  SALLYPORT_TRY(std::vector<mcp::Pin> pins, mcp::all_pins(records));
  std::erase_if(pins, [&](const mcp::Pin& pin) { return !wanted(pin, options); });
  return pins;
}

std::string one_line(const json::value* value) {
  return value == nullptr ? "(none)" : visible(canonical_json(*value));
}

Result<void> show_change(core::RecordReader& records, const mcp::Pin& pin, bool as_json) {
  SALLYPORT_TRY(const PinChange change, change_of(records, pin));
  if (as_json) {
    json::object object = to_json(pin);
    object["before"] = change.before;
    object["after"] = change.after;
    say(visible_json(canonical_json(object)));
    return {};
  }
  say(fmt::format("{} of {}", visible(pin.tool), visible(pin.server)));
  for (const PinMember& member : differing(change)) {
    say(fmt::format("  {}", visible(member.name)));
    say(fmt::format("  - {}", one_line(member.before)));
    say(fmt::format("  + {}", one_line(member.after)));
  }
  return {};
}

Result<int> pins_list(const Context& context, const PinsOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const std::vector<mcp::Pin> pins, selected(records, options));
  for (const mcp::Pin& pin : pins) {
    say(context.json()
            ? visible_json(canonical_json(to_json(pin)))
            : fmt::format("{}  {}  {}  {}", visible(pin.server), visible(pin.tool),
                          pin.hash.substr(0, 16), pin.held() ? "CHANGED, held back" : "pinned"));
  }
  if (pins.empty() && !context.json()) say("nothing is pinned");
  return 0;
}

Result<int> pins_diff(const Context& context, const PinsOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const std::vector<mcp::Pin> pins, selected(records, options));
  bool any = false;
  for (const mcp::Pin& pin : pins) {
    if (!pin.held()) continue;
    any = true;
    SALLYPORT_CHECK_OK(show_change(records, pin, context.json()));
  }
  if (!any && !context.json()) say("nothing has changed");
  return any ? 1 : 0;
}

Result<int> pins_accept(const Context& context, const PinsOptions& options) {
  if (!options.server) {
    return fail(ErrorCode::InvalidInput, "name the server, and the tool unless all are meant");
  }
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "pins accept"));
  boost::asio::io_context loop(1);  // behind the ledger, which may still tell it something
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  SALLYPORT_TRY(const std::vector<mcp::Pin> pins, selected(workspace->ledger(), options));
  std::size_t accepted = 0;
  for (const mcp::Pin& pin : pins) {
    if (!pin.held()) continue;
    SALLYPORT_CHECK_OK(run_on(loop, mcp::accept_pin(workspace->ledger(), pin, person.who)));
    ++accepted;
    say(context.json()
            ? visible_json(canonical_json(json::object{
                  {"server", pin.server}, {"tool", pin.tool}, {"hash", pin.changed_hash}}))
            : fmt::format("{} of {} is accepted as it is now", visible(pin.tool),
                          visible(pin.server)));
  }
  if (accepted > 0) return 0;
  return fail(ErrorCode::NotFound,
              "nothing like that waits; `sallyport pins list` shows what is pinned");
}

void pin_options(Syntax& syntax, PinsOptions& options) {
  syntax.text("server", options.server, "only of this server", "SERVER");
  syntax.text("tool", options.tool, "only this tool", "TOOL");
}

const Command kPinsList("pins list", "what is pinned", pins_list, pin_options);

const Command kPinsDiff("pins diff", "what has changed", pins_diff, pin_options);

const Command kPinsAccept("pins accept", "accept a changed definition", pins_accept,
                          [](Syntax& syntax, PinsOptions& options) {
                            pin_options(syntax, options);
                            person_options(syntax, options.login);
                          });

}  // namespace

}  // namespace sallyport::app
