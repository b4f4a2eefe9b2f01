// What every command is given: the global options, and what they mean on this machine.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "app/config/config.h"
#include "app/machine/environment.h"
#include "app/machine/system_setup.h"
#include "app/terminal/terminal.h"
#include "app/workspace.h"

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
  // Of this machine. An error: it cannot be believed, and nothing may be done that depends on it.
  Result<std::optional<SystemSetup>> system = std::optional<SystemSetup>();

  bool json() const { return globals.json; }

  // Where everything is kept: as --data-dir says, else as the configuration does, else the usual.
  Result<std::filesystem::path> data_dir() const;
  // The file that was named, else <data-dir>/config.yaml when it is there.
  Result<std::optional<std::filesystem::path>> config_file() const;
  // Under the system set-up a user who names no folder of his own is refused (`Unauthenticated`),
  // and the service is told: its folder is for its own account.
  Result<Workspace::Place> place() const;
  // A folder was named that is not the service's.
  bool names_own_folder() const;

  Result<std::unique_ptr<Workspace>> open_reading() const;
  Result<std::unique_ptr<Workspace>> open_maintaining() const;
  // On standard error, where a ledger can only be read because it is newer than we are (LE-81).
  static void tell_newer(Workspace& workspace);

 private:
  Result<void> admit(bool own_folder) const;
  Result<std::filesystem::path> named_data_dir() const;
};

}  // namespace sallyport::app
