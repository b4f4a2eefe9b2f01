// The set-up of a machine where Sallyport is a service under its own account
// (`sallyport setup --system`). Every client command reads it first.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::app {

struct SystemSetup {
  static constexpr const char* kFolder = "/etc/sallyport";
  static constexpr const char* kFile = "system.json";

  std::string service_user{};
  unsigned service_uid = 0;
  std::filesystem::path socket_dir{};
  std::filesystem::path data_dir{};
  std::filesystem::path config{};

  bool operator==(const SystemSetup&) const = default;
};

std::string to_text(const SystemSetup& setup);
Result<SystemSetup> system_setup_in(std::string_view text);

// No value: this machine has no such set-up. An error: the file cannot be trusted, because users
// other than root can write it or its folder; the caller must refuse then. The place is fixed: an
// agent that could choose it could choose the service.
Result<std::optional<SystemSetup>> system_setup();

}  // namespace sallyport::app
