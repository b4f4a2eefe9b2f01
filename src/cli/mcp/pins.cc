// Tool definitions that were pinned, and the changes that wait for a person.
#include "mcp/server/pins.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "base/run_on.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/read/store_reader.h"
#include "people/login.h"
#include "records/entry_text.h"
#include "records/pin_list.h"
#include "terminal/output.h"

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
    object["before"] = change.before.value_or(json::value());
    object["after"] = change.after.value_or(json::value());
    print_line(visible_json(canonical_json(object)));
    return {};
  }
  print_line(fmt::format("{} of {}", visible(pin.tool), visible(pin.server)));
  if (!change.before) print_line("  the pinned definition was pruned or erased");
  if (!change.after) print_line("  the new definition was pruned or erased");
  for (const PinMember& member : differing(change)) {
    print_line(fmt::format("  {}", visible(member.name)));
    if (change.before) print_line(fmt::format("  - {}", one_line(member.before)));
    print_line(fmt::format("  + {}", one_line(member.after)));
  }
  return {};
}

Result<int> pins_list(const Context& context, const PinsOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const std::vector<mcp::Pin> pins, selected(records, options));
  for (const mcp::Pin& pin : pins) {
    print_line(context.json() ? visible_json(canonical_json(to_json(pin)))
                              : fmt::format("{}  {}  {}  {}", visible(pin.server),
                                            visible(pin.tool), pin.hash.substr(0, 16),
                                            pin.held() ? "CHANGED, held back" : "pinned"));
  }
  if (pins.empty() && !context.json()) print_line("nothing is pinned");
  return 0;
}

Result<int> pins_diff(const Context& context, const PinsOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const std::vector<mcp::Pin> pins, selected(records, options));
  if (pins.empty() && options.server) {
    return fail(ErrorCode::NotFound,
                "no tool of that name is pinned; `sallyport pins list` shows what is pinned");
  }
  bool any = false;
  for (const mcp::Pin& pin : pins) {
    if (!pin.held()) continue;
    any = true;
    SALLYPORT_CHECK_OK(show_change(records, pin, context.json()));
  }
  if (!any && !context.json()) print_line("nothing has changed");
  return any ? 1 : 0;
}

Result<int> pins_accept(const Context& context, const PinsOptions& options) {
  SALLYPORT_TRY(const Person person, authorize_change(context, options.login, "pins accept"));
  boost::asio::io_context loop(1);  // destroyed after the ledger, which may still post to it
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  SALLYPORT_TRY(const std::vector<mcp::Pin> pins, selected(workspace->ledger(), options));
  std::size_t accepted = 0;
  for (const mcp::Pin& pin : pins) {
    if (!pin.held()) continue;
    SALLYPORT_CHECK_OK(run_on(loop, mcp::accept_pin(workspace->ledger(), pin, person.who)));
    ++accepted;
    print_line(context.json()
                   ? visible_json(canonical_json(json::object{
                         {"server", pin.server}, {"tool", pin.tool}, {"hash", pin.changed_hash}}))
                   : fmt::format("{} of {} is accepted as it is now", visible(pin.tool),
                                 visible(pin.server)));
  }
  if (accepted > 0) return 0;
  return fail(ErrorCode::NotFound,
              "no changed tool of that name waits; `sallyport pins list` shows what is pinned");
}

Option pin_options(Syntax& syntax, PinsOptions& options) {
  const Option server = syntax.text("server", options.server, "only this server", "SERVER");
  syntax.text("tool", options.tool, "only this tool", "TOOL");
  return server;
}

void pins_to_show(Syntax& syntax, PinsOptions& options) {
  pin_options(syntax, options);
}

const Command kPinsList("pins list", "list pinned tool definitions", pins_list, pins_to_show);

const Command kPinsDiff("pins diff", "show changed tool definitions", pins_diff, pins_to_show);

const Command kPinsAccept("pins accept", "accept a changed definition", pins_accept,
                          [](Syntax& syntax, PinsOptions& options) {
                            pin_options(syntax, options).required();
                            person_options(syntax, options.login);
                          });

}  // namespace

}  // namespace sallyport::app
