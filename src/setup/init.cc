// `sallyport init`: puts us into the settings of an agent or of an MCP client, and takes us out.
#include "setup/init.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "hook/dialect.h"
#include "people/agent_ancestry.h"
#include "policy/policy_loader.h"
#include "setup/settings_file.h"
#include "setup/wiring.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

// Decides for an agent or a client that was not behind the gate before.
constexpr const char* kDefaultPolicy = "coding";

// The planned changes of a run, before anything is written.
struct Proposal {
  json::object settings;
  std::vector<std::string> wrapped{};
  std::vector<std::string> left{};
};

Result<Invoked> invoked_by(const Context& context, const InitOptions& options) {
  std::error_code code;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code) return fail(ErrorCode::Unavailable, "cannot find out where this program is");
  Invoked invoked{.program = self.string()};
  const auto absolute = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  if (context.globals.data_dir) {
    invoked.options.insert(invoked.options.end(),
                           {"--data-dir", absolute(*context.globals.data_dir)});
  }
  if (options.policy && !options.undo) {
    // A policy that cannot be loaded would block every tool.
    SALLYPORT_CHECK_OK(policy::PolicyOrigin::named(*options.policy).read(nullptr));
    // A file gets its full path, so that the agent finds it from any folder; a shipped policy keeps
    // its name.
    const bool file = std::filesystem::exists(*options.policy, code);
    invoked.options.insert(invoked.options.end(),
                           {"--policy", file ? absolute(*options.policy) : *options.policy});
  }
  // Under the system set-up the service's own policy decides.
  if (context.globals.data_dir || !*context.system) invoked.default_policy = kDefaultPolicy;
  return invoked;
}

Result<std::filesystem::path> file_of(const Context& context, const InitOptions& options) {
  if (options.file) return *options.file;
  if (!context.environment.home) {
    return fail(ErrorCode::InvalidInput, "there is no home folder; name the file with --file");
  }
  return std::filesystem::path(*context.environment.home) /
         (options.agent ? agent_settings(*options.agent) : client_settings(*options.client));
}

Result<Proposal> propose(const Context& context, const InitOptions& options,
                         const json::object& settings) {
  SALLYPORT_TRY(const Invoked invoked, invoked_by(context, options));
  if (options.agent && options.undo) return Proposal{without_hooks(settings, *options.agent)};
  if (options.agent) {
    SALLYPORT_TRY(json::object wired, with_hooks(settings, *options.agent, invoked));
    return Proposal{std::move(wired)};
  }
  SALLYPORT_TRY(Rewired rewired, options.undo ? without_gateways(settings, *options.client)
                                              : with_gateways(settings, *options.client, invoked));
  return Proposal{std::move(rewired.settings), std::move(rewired.wrapped), std::move(rewired.left)};
}

// The next steps for the user, in order; each line is a sentence.
std::vector<std::string> next_steps(const Context& context, const InitOptions& options) {
  if (options.undo || options.dry_run) return {};
  std::vector<std::string> steps;
  const std::string data =
      context.globals.data_dir
          ? " --data-dir " + std::filesystem::absolute(*context.globals.data_dir).string()
          : "";
  if (options.agent == "codex") {
    steps.emplace_back(
        "start codex, type `/hooks` and trust the hooks of sallyport; before that codex runs none "
        "of them");
  } else if (options.agent) {
    steps.push_back(fmt::format("restart {}; it reads its settings at the start",
                                *options.agent == "claude-code" ? "claude" : *options.agent));
  } else {
    steps.emplace_back("restart the client; it then starts its servers behind the gate");
  }
  steps.push_back(fmt::format(
      "run `sallyport approvals init --register{}` once, so that you can answer what waits for "
      "approval",
      data));
  if (options.agent) {
    steps.push_back(fmt::format("run `sallyport doctor{}`; it checks that the hook can run", data));
  }
  steps.push_back(fmt::format("run `sallyport ledger calls{}` to see what was called", data));
  return steps;
}

void print_outcome(const Context& context, const InitOptions& options, const SettingsFile& file,
                   const Proposal& proposal, bool changes) {
  std::error_code code;
  const std::filesystem::path kept = file.backup_path();
  const bool has_backup = std::filesystem::exists(kept, code);
  const std::vector<std::string> next = next_steps(context, options);
  if (context.json()) {
    print_line(json::serialize(
        json::object{{"file", file.path().string()},
                     {"changed", changes && !options.dry_run},
                     {"would_change", changes},
                     {"backup", has_backup ? json::value(kept.string()) : json::value()},
                     {"servers", json::array(proposal.wrapped.begin(), proposal.wrapped.end())},
                     {"left_alone", json::array(proposal.left.begin(), proposal.left.end())},
                     {"next", json::array(next.begin(), next.end())}}));
    return;
  }
  const std::string name = file.path().string();
  if (!changes) {
    print_line(fmt::format("nothing to do: {} is as it should be", name));
  } else if (options.dry_run) {
    print_line(fmt::format("would change {}", name));
  } else {
    print_line(fmt::format("{} {}", options.undo ? "removed from" : "written to", name));
    if (has_backup) print_line(fmt::format("a copy of the old file: {}", kept.string()));
  }
  for (const std::string& server : proposal.wrapped) print_line(fmt::format("  server {}", server));
  for (const std::string& server : proposal.left) {
    print_line(fmt::format("  server {} has no command and is not changed", server));
  }
  for (std::size_t i = 0; i < next.size(); ++i) {
    print_line(fmt::format("{}{}. {}", i == 0 ? "next:\n  " : "  ", i + 1, next[i]));
  }
}

}  // namespace

Result<int> init(const Context& context, const InitOptions& options) {
  if (!options.agent && !options.client) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("name the program to set up, for example `sallyport init --agent "
                    "claude-code`; --agent takes {}, --client takes {}",
                    fmt::join(hook::dialect_names(), ", "), fmt::join(client_names(), ", ")));
  }
  if (options.agent && options.client) {
    return fail(
        ErrorCode::InvalidInput,
        "--agent and --client are settings of different programs; run `init` once for each");
  }
  if (!context.system) return std::unexpected(context.system.error());
  if (*context.system && options.client && !options.undo && !context.globals.data_dir) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("on this machine the service starts tool servers; name them in `{}` and "
                    "let the client run `sallyport mcp --name NAME`",
                    (*context.system)->config.string()));
  }
  // Agents must not remove the gate. Under the system set-up the ledger is the service's, and users
  // may change the settings of their own accounts.
  if (options.undo && !options.dry_run && !options.print && !*context.system) {
    SALLYPORT_CHECK_OK(refuse_agents(context, "init --undo"));
  }
  SALLYPORT_TRY(const std::filesystem::path path, file_of(context, options));
  SALLYPORT_TRY(const SettingsFile file, SettingsFile::read(path));
  if (options.client && !file.existed()) {
    return fail(ErrorCode::NotFound, "there is no such settings file; name it with --file",
                path.string());
  }
  if (options.print && options.agent) {
    // For a file that cannot be read here, or that another program makes.
    SALLYPORT_TRY(const Proposal alone, propose(context, options, {}));
    print_line(indented_json(alone.settings));
    return 0;
  }
  SALLYPORT_TRY(const Proposal proposal, propose(context, options, file.content()));
  if (options.print) {
    print_line(indented_json(proposal.settings));
    return 0;
  }
  const bool changes = proposal.settings != file.content();
  if (changes && !options.dry_run) {
    SALLYPORT_CHECK_OK(options.undo ? file.restore(proposal.settings)
                                    : file.replace(proposal.settings));
  }
  print_outcome(context, options, file, proposal, changes);
  return 0;
}

}  // namespace sallyport::app
