#include "cli/mcp/mcp_relay.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/try.h"
#include "daemon_client/refused_to_user.h"
#include "daemon_client/service_line.h"
#include "net/pump.h"

namespace sallyport::app {

namespace {

class Connected {
 public:
  explicit Connected(int descriptor) : descriptor_(descriptor) {}
  Connected(const Connected&) = delete;
  ~Connected() { ::close(descriptor_); }
  int number() const { return descriptor_; }

 private:
  int descriptor_;
};

// The service chooses the tool servers and the policy.
bool chooses_for_the_service(const McpOptions& options) {
  return !options.command.empty() || options.url || options.policy || options.bearer_env ||
         options.allow_http || options.login || options.oauth != OAuthOptions{} ||
         options.era != "auto";
}

}  // namespace

Result<int> relay_mcp(const Context& context, const McpOptions& options) {
  const SystemSetup& service = **context.system;
  if (chooses_for_the_service(options)) {
    return refused_to_user(
        service, "mcp",
        fmt::format("use `sallyport mcp --name NAME` for a server that `{}` names",
                    service.config.string()));
  }
  if (options.grant || context.environment.grant) {
    return fail(ErrorCode::InvalidInput,
                "under the system set-up a grant comes with each call, in its `_meta`; leave out "
                "`--grant` and SALLYPORT_GRANT");
  }
  signal(SIGPIPE, SIG_IGN);
  SALLYPORT_TRY(const int descriptor, open_relay(service, options.name.value_or("")));
  const Connected socket(descriptor);
  const Result<void> carried =
      net::pump({.input = STDIN_FILENO, .output = STDOUT_FILENO, .socket = socket.number()});
  if (!carried) {
    return fail(carried.error().code, "the service of this machine: " + carried.error().message);
  }
  return 0;
}

}  // namespace sallyport::app
