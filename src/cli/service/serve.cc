#include "app/daemon/serve.h"

#include "cli/command.h"

namespace sallyport::app {

namespace {

const Command kServe(
    "serve", "serve agents over HTTP, as the configuration says", serve,
    [](Syntax& syntax, ServeOptions& options) {
      syntax.text("--policy", options.policy,
                  "use this policy instead of the one in the configuration", "POLICY");
      syntax.text("--log", options.log, "format of log lines [text]").choices({"text", "json"});
      syntax.footer(
          "Servers, tokens and the address to listen on stand in the file that --config names\n"
          "[<data-dir>/config.yaml], as in `sallyport serve --config prod.yaml`. SIGHUP reads it "
          "again.\n"
          "`sallyport policy schema config` prints its keys, `sallyport --help` the other "
          "options.");
    });

}  // namespace

}  // namespace sallyport::app
