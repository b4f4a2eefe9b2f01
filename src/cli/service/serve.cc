#include "daemon/serve.h"

#include "cli/command.h"

namespace sallyport::app {

namespace {

const Command kServe(
    "serve", "serve agents over HTTP, as configured", serve,
    [](Syntax& syntax, ServeOptions& options) {
      syntax.text("--policy", options.policy,
                  "use this policy instead of the one in the configuration", "POLICY");
      syntax.text("--log", options.log, "format of log lines [text]").choices({"text", "json"});
      syntax.footer(
          "The file that --config names [<data-dir>/config.yaml] sets servers, tokens and the\n"
          "address to listen on, as in `sallyport serve --config prod.yaml`. SIGHUP reads it\n"
          "again. `sallyport policy schema config` prints its keys, `sallyport --help` the other\n"
          "options.");
    });

}  // namespace

}  // namespace sallyport::app
