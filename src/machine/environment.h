// The environment of the process. It is read once, here, and passed on as a value.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "effects/call_facts.h"
#include "sallyport/result.h"

namespace sallyport::app {

// A variable that is set to nothing counts as not set.
struct Environment {
  std::optional<std::string> data_dir;    // SALLYPORT_DATA_DIR
  std::optional<std::string> state_home;  // XDG_STATE_HOME
  std::optional<std::string> home;        // HOME, else what the user database says
  std::optional<std::string> agent;       // SALLYPORT_AGENT: set by fronts for what agents start
  std::optional<std::string> grant;       // SALLYPORT_GRANT: a token, or its file
  std::optional<std::string>
      claude_entrypoint;                      // CLAUDE_CODE_ENTRYPOINT: how that agent was started
  std::optional<std::string> claude_project;  // CLAUDE_PROJECT_DIR
  std::optional<std::string> gemini_project;  // GEMINI_PROJECT_DIR
  std::optional<std::string> temp;            // TMPDIR
  std::optional<std::string> no_color;
  std::optional<std::string> term;
  std::optional<std::string> path;         // PATH
  std::optional<std::string> session_bus;  // DBUS_SESSION_BUS_ADDRESS
  std::optional<std::string> runtime_dir;  // XDG_RUNTIME_DIR
  std::optional<std::string> display;      // WAYLAND_DISPLAY, else DISPLAY
  std::optional<std::string> locale;       // LC_ALL, else LC_CTYPE, else LANG

  static Environment of_this_process();
};

// A variable that a policy names for its external guards; no value: it is not set.
std::optional<std::string> variable_of_this_process(const std::string& name);

// The default data folder. `InvalidInput`: there is no home folder either.
Result<std::filesystem::path> default_data_dir(const Environment& environment);

// The folders that rules name, for the policy of this name.
effects::Machine machine_of(const Environment& environment, const std::filesystem::path& data_dir,
                            const std::string& policy);

// The user of this process, for control entries: `uid:<name>`, or the number if there is no name.
std::string running_user();

}  // namespace sallyport::app
