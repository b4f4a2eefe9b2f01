#include "app/setup/init.h"

#include "app/setup/wiring.h"
#include "cli/command.h"
#include "hook/dialect.h"

namespace sallyport::app {

namespace {

const Command kInit(
    "init", "put the gate into the settings of an agent or a client", init,
    [](Syntax& syntax, InitOptions& options) {
      syntax.text("--agent", options.agent, "install the hook of this coding agent")
          .choices(hook::dialect_names());
      syntax
          .text("--client", options.client, "lead the MCP servers of this client through the gate")
          .choices(client_names());
      syntax.file("--file", options.file, "its settings [where the program keeps them]");
      syntax.text("--policy", options.policy, "the policy to use [coding]", "POLICY");
      syntax.flag("--print", options.print, "print the settings, write nothing");
      syntax.flag("--undo", options.undo, "remove it again");
      syntax.flag("--dry-run", options.dry_run, "say what would be changed");
    });

}  // namespace

}  // namespace sallyport::app
