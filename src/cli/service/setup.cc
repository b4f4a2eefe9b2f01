#include "setup/setup.h"

#include "cli/command.h"

namespace sallyport::app {

namespace {

const Command kSetup(
    "setup", "set up this machine: a service with its own account", setup,
    [](Syntax& syntax, SetupOptions& options) {
      syntax.flag("--system", options.system,
                  "install account, folders, unit and sockets; needs root");
      syntax.flag("--undo", options.undo, "remove what was installed; the ledger stays");
      syntax.flag("--purge", options.purge,
                  "with --undo: also the ledger, its keys and its account");
      syntax.flag("--dry-run", options.dry_run, "print each step, change nothing");
      syntax.text("--user", options.user, "the account of the service [sallyport]", "NAME");
      syntax.file("--root", options.root, "write below this folder instead of /", "DIR");
    });

}  // namespace

}  // namespace sallyport::app
