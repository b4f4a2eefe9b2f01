#include "setup/init.h"

#include "cli/command.h"
#include "hook/dialect.h"
#include "setup/wiring.h"

namespace sallyport::app {

namespace {

const Command kInit(
    "init", "install the gate in the settings of a coding agent or MCP client", init,
    [](Syntax& syntax, InitOptions& options) {
      syntax.text("--agent", options.agent, "install the hook of this coding agent")
          .choices(hook::dialect_names());
      syntax
          .text("--client", options.client, "route the MCP servers of this client through the gate")
          .choices(client_names());
      syntax.file("--file", options.file, "settings file [where the program keeps it]");
      syntax.text("--policy", options.policy, "the policy to use [coding]", "POLICY");
      syntax.flag("--print", options.print, "print the settings, write nothing");
      syntax.flag("--undo", options.undo, "remove the gate from the settings");
      syntax.flag("--dry-run", options.dry_run, "print what would change");
    });

}  // namespace

}  // namespace sallyport::app
