#include "setup/setup_files.h"

#include <fmt/format.h>

#include "policy/shipped.h"

namespace sallyport::app {

std::string config_text(const SetupPlace& place) {
  return fmt::format(
      R"(# The service of this machine (`sallyport setup --system`). Restart it after a change:
#   systemctl restart sallyport
version: 1
data_dir: {data}
reviewers: {reviewers}
serve:
  # Programs of all users ask here: hooks of coding agents, and `sallyport mcp --name NAME`.
  socket_dir: {sockets}
  # No port: any program of this machine could take it while the service is down, and people would
  # show their tokens to it. Write 127.0.0.1:8765 for agents and people who come over HTTP.
  listen: none
  # Read again when it changes.
  policy: {policy}
  # The account of tool servers. It is never that of the service.
  run_as: {tools}
  # The tool servers behind the gate. Agents name them and nothing else.
  upstreams: []
  #  - {{name: files, command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/notes]}}
  #  - {{name: mail, command: [/opt/mail/server], run_as: mailbot}}
)",
      fmt::arg("data", place.data().string()), fmt::arg("reviewers", place.reviewers().string()),
      fmt::arg("sockets", place.sockets().string()), fmt::arg("policy", place.policy().string()),
      fmt::arg("tools", place.tools_user()));
}

std::string policy_text() {
  return std::string(policy::shipped_policy("starter")->text);
}

std::string reviewers_text() {
  return "# Who may approve: what `sallyport approvals init` prints belongs here, one line a "
         "person.\n"
         "reviewers: []\n";
}

// Checked with `systemd-analyze verify`. MemoryDenyWriteExecute is left out: the pattern engine
// (PCRE2) compiles to machine code, and so do the run-times of many tool servers, which inherit it.
std::string unit_text(const SetupPlace& place, const std::string& program) {
  return fmt::format(R"([Unit]
Description=Sallyport, a gate around the tool calls of AI agents
After=network.target

[Service]
Type=exec
User={user}
Group={user}
ExecStart={program} serve --config {config}
Restart=on-failure
RestartSec=1
TimeoutStopSec=30

# The folders: state for the service alone, sockets for everybody.
StateDirectory=sallyport
StateDirectoryMode=0700
RuntimeDirectory=sallyport
RuntimeDirectoryMode=0755
UMask=0077

# To start tool servers under their own account, and to end them. Nothing else of root.
CapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_KILL
AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL
NoNewPrivileges=yes

# Tool servers inherit all of this. What one needs is allowed by `systemctl edit sallyport`, such as
# ReadWritePaths=/srv/notes or ProtectHome=read-only.
ProtectSystem=strict
ReadWritePaths={tools_home}
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
KeyringMode=private
# No MemoryDenyWriteExecute: patterns are compiled to machine code, as is what many tool servers run.
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
)",
                     fmt::arg("user", place.user), fmt::arg("program", program),
                     fmt::arg("config", place.config().string()),
                     fmt::arg("tools_home", place.tools_home().string()));
}

std::string start_command(const SetupPlace& place, const std::string& program) {
  constexpr const char* kCapabilities = "+setuid,+setgid,+kill";
  return fmt::format(
      "setpriv --reuid {0} --regid {0} --init-groups --inh-caps -all,{1} --ambient-caps -all,{1} "
      "--bounding-set -all,{1} --no-new-privs {2} serve --config {3}",
      place.user, kCapabilities, program, place.config().string());
}

}  // namespace sallyport::app
