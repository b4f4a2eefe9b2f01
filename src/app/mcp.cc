// `sallyport mcp`: wraps a tool server for a client on standard streams.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>

#include "app/commands.h"
#include "app/error_lines.h"
#include "app/gateway_plan.h"
#include "app/governed_process.h"
#include "app/grant_files.h"
#include "app/mcp_upstream.h"
#include "app/policy_watch.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/governor.h"
#include "core/plan_shelf.h"
#include "core/stored_record.h"
#include "mcp/gateway.h"

namespace sallyport::app {

policy::PolicyLoader::Extend what_the_gateway_brings(const mcp::PinBook& pins) {
  return [&pins](core::PlanBuilder& plan) {
    const Classification lookup{.tier = Tier::Observe, .effect_class = "none"};
    for (const char* const method :
         {"resources/read", "prompts/get", "completion/complete", "tasks/result"}) {
      plan.tool("", method, lookup);
    }
    plan.guard(std::make_shared<mcp::PinGuard>(pins));
  };
}

namespace {

namespace asio = boost::asio;

template <class T>
Result<T> run_on(asio::io_context& loop, Task<T> task) {
  Result<T> answer = fail(ErrorCode::Internal, "a task ended without an answer");
  asio::co_spawn(loop, std::move(task), [&](const std::exception_ptr& thrown, Result<T> value) {
    if (!thrown) answer = std::move(value);
  });
  loop.restart();
  loop.run();
  return answer;
}

// The token for calls that bring none of their own. What it is worth is for the policy to say.
Result<std::string> presented_grant(const Context& context, const McpOptions& options) {
  const std::optional<std::string>& named =
      options.grant ? options.grant : context.environment.grant;
  unsetenv("SALLYPORT_GRANT");  // the server that is started does not see it (CG-10)
  if (!named || named->empty()) return std::string();
  return read_token_text(*named);
}

std::string about_policy(const McpOptions& options) {
  if (options.policy) return fmt::format("the policy {} is in force", *options.policy);
  return "no policy was given, so the starter policy is in force: calls run by themselves, secrets "
         "are taken out of results, changed tools are held back";
}

// Puts the flags back: the streams may belong to a shell that goes on using them.
class Flags {
 public:
  explicit Flags(int descriptor);
  Flags(const Flags&) = delete;
  ~Flags();

 private:
  int descriptor_;
  int flags_;
};

Flags::Flags(int descriptor) : descriptor_(descriptor), flags_(fcntl(descriptor, F_GETFL)) {}
Flags::~Flags() {
  if (flags_ >= 0) fcntl(descriptor_, F_SETFL, flags_);
}

Result<void> serve(asio::io_context& loop, mcp::Gateway& gateway, PolicyWatch& watch) {
  asio::signal_set signals(loop, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) gateway.stop();
  });
  Result<void> ended = fail(ErrorCode::Internal, "the gateway failed");
  asio::co_spawn(loop, gateway.run(), [&](const std::exception_ptr& thrown, Result<void> result) {
    if (!thrown) ended = std::move(result);
    signals.cancel();
    watch.stop();
  });
  asio::co_spawn(loop, watch.run(), asio::detached);
  loop.restart();
  loop.run();
  return ended;
}

}  // namespace

Result<int> wrap_mcp_server(const Context& context, const McpOptions& options) {
  SALLYPORT_TRY(const McpUpstream upstream, upstream_of(options));
  signal(SIGPIPE, SIG_IGN);
  ErrorLines lines;
  SALLYPORT_TRY(const std::string grant, presented_grant(context, options));
  const std::string name = options.name.value_or(upstream.name);
  SALLYPORT_TRY(Workspace::Place place, context.place());
  SALLYPORT_TRY(
      const std::unique_ptr<Workspace> workspace,
      Workspace::open_writing(std::move(place),
                              {.role = "mcp", .close_interrupted = core::close_interrupted}));
  ledger::Ledger& ledger = workspace->ledger();
  asio::io_context loop(1);
  mcp::PinBook pins(ledger);
  SALLYPORT_TRY(const auto before, ledger.fact("policy", "hash"));
  core::PlanShelf plans(ledger, before.value_or(""));
  policy::PolicyLoader loader(policy::PolicyOrigin::named(options.policy.value_or("starter")),
                              {workspace->clock(), workspace->entropy(), ledger.fingerprint_key(),
                               &ledger, &workspace->patterns()},
                              what_the_gateway_brings(pins));
  PolicyWatch watch(loader, plans, who_runs_this(),
                    [&](std::string_view line) { lines.say(fmt::format("sallyport: {}", line)); });
  SALLYPORT_CHECK_OK(run_on(loop, watch.load()));
  lines.say(fmt::format("sallyport: `{}` is wrapped; {}; all is recorded in {}", name,
                        about_policy(options), workspace->place().data_dir.string()));

  core::Governor governor({plans, ledger, workspace->redactor(), workspace->clock(),
                           workspace->entropy(), ledger.digest()});
  SALLYPORT_CHECK_OK(run_on(loop, governor.start()));
  SALLYPORT_CHECK_OK(govern_this_process(ledger, who_runs_this()));
  const Flags input_flags(STDIN_FILENO);
  const Flags output_flags(STDOUT_FILENO);
  mcp::Gateway gateway(
      loop.get_executor(),
      {governor, plans, ledger, workspace->redactor(), workspace->clock(), workspace->entropy(),
       pins},
      {.name = name,
       .make_server = upstream.make,
       .agent_id = who_runs_this(),
       .session_id = "mcp-" + uuid7_text(workspace->clock(), workspace->entropy()),
       .era = era_hint(options, EraCache(workspace->place().data_dir, upstream.identity),
                       workspace->clock().wall()),
       .grant = grant,
       .log = [&](std::string_view line) { lines.say(fmt::format("sallyport: {}", line)); }},
      std::make_unique<mcp::StreamLink>(loop.get_executor(), mcp::Limits{}, dup(STDIN_FILENO),
                                        dup(STDOUT_FILENO)));
  const Result<void> served = serve(loop, gateway, watch);
  // What could not be taken back names a process that does not run any more.
  (void)govern_no_more(ledger);
  SALLYPORT_CHECK_OK(served);
  return 0;
}

}  // namespace sallyport::app
