// The context of every command: the global options, and their meaning on this machine.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "machine/environment.h"
#include "machine/system_setup.h"
#include "terminal/terminal.h"
#include "workspace/config/config.h"
#include "workspace/workspace.h"

namespace sallyport::app {

struct Globals {
  std::optional<std::filesystem::path> data_dir;
  std::optional<std::filesystem::path> config;
  bool json = false;
  ColorMode color = ColorMode::Auto;
  bool allow_network_fs = false;
};

struct Context {
  Globals globals;
  Environment environment;
  Terminal terminal;
  std::string command{};  // as `approvals approve`
  // The set-up of this machine. An error: its file cannot be trusted; refuse what depends on it.
  Result<std::optional<SystemSetup>> system = std::optional<SystemSetup>();

  bool json() const { return globals.json; }

  // The data folder: that of --data-dir, else that of the configuration, else the default.
  Result<std::filesystem::path> data_dir() const;
  // The same without a configuration, and without a check whose folder it is.
  Result<std::filesystem::path> named_data_dir() const;
  // The file that was named, else <data-dir>/config.yaml when it is there.
  Result<std::optional<std::filesystem::path>> config_file() const;
  // Under the system set-up a user who names no other folder is refused (`Unauthenticated`), and
  // the service records it: only its own account may use its folder.
  Result<Workspace::Place> place() const;
  // True if a folder other than the service's was named.
  bool names_own_folder() const;

  Result<std::unique_ptr<Workspace>> open_reading() const;
  // For commands that watch: says that there is no ledger yet, and waits until there is one or
  // `stopped`.
  Result<std::unique_ptr<Workspace>> await_reading(const std::function<bool()>& stopped) const;
  Result<std::unique_ptr<Workspace>> open_maintaining() const;
  // Warns on standard error that a newer release wrote the ledger, so it can only be read (LE-81).
  static void report_newer(Workspace& workspace);

 private:
  Result<void> admit(bool own_folder) const;
};

}  // namespace sallyport::app
