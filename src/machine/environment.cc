#include "machine/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "policy/policy_loader.h"

namespace sallyport::app {

namespace {

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

struct Account {
  std::string name;
  std::string home;
};

std::optional<Account> account() {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0) return std::nullopt;
  if (found == nullptr) return std::nullopt;
  return Account{found->pw_name, found->pw_dir};
}

}  // namespace

std::optional<std::string> variable_of_this_process(const std::string& name) {
  return variable(name.c_str());
}

Environment Environment::of_this_process() {
  Environment environment{.data_dir = variable("SALLYPORT_DATA_DIR"),
                          .state_home = variable("XDG_STATE_HOME"),
                          .home = variable("HOME"),
                          .agent = variable("SALLYPORT_AGENT"),
                          .grant = variable("SALLYPORT_GRANT"),
                          .claude_entrypoint = variable("CLAUDE_CODE_ENTRYPOINT"),
                          .claude_project = variable("CLAUDE_PROJECT_DIR"),
                          .gemini_project = variable("GEMINI_PROJECT_DIR"),
                          .temp = variable("TMPDIR"),
                          .no_color = variable("NO_COLOR"),
                          .term = variable("TERM"),
                          .path = variable("PATH"),
                          .session_bus = variable("DBUS_SESSION_BUS_ADDRESS"),
                          .runtime_dir = variable("XDG_RUNTIME_DIR")};
  if (!environment.home) {
    if (const std::optional<Account> user = account()) environment.home = user->home;
  }
  for (const char* const name : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    if (!environment.display) environment.display = variable(name);
  }
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!environment.locale) environment.locale = variable(name);
  }
  return environment;
}

Result<std::filesystem::path> default_data_dir(const Environment& environment) {
  using std::filesystem::path;
  if (environment.data_dir) return path(*environment.data_dir);
  // The base directory specification says that a relative one is to be ignored.
  if (environment.state_home && path(*environment.state_home).is_absolute()) {
    return path(*environment.state_home) / "sallyport";
  }
  if (environment.home) return path(*environment.home) / ".local" / "state" / "sallyport";
  return fail(ErrorCode::InvalidInput, "there is no home folder to keep data in; give --data-dir");
}

effects::Machine machine_of(const Environment& environment, const std::filesystem::path& data_dir,
                            const std::string& policy) {
  std::error_code code;
  effects::Machine machine{.home = environment.home.value_or("")};
  if (!data_dir.empty()) machine.data = std::filesystem::absolute(data_dir, code).string();
  if (!policy::PolicyOrigin::shipped(policy)) {
    machine.policy = std::filesystem::absolute(policy, code).string();
  }
  if (environment.temp) machine.temp.push_back(*environment.temp);
  return machine;
}

std::string running_user() {
  const std::optional<Account> user = account();
  return "uid:" + (user ? user->name : std::to_string(geteuid()));
}

}  // namespace sallyport::app
