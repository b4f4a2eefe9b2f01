// The files of the system set-up: where they are, and what they say when they are new. Pure.
#pragma once

#include <filesystem>
#include <string>

#include "machine/system_setup.h"

namespace sallyport::app {

struct SetupPlace {
  std::filesystem::path root = "/";  // prefix of all paths
  std::string user = "sallyport";

  std::string tools_user() const { return user + "-tools"; }
  // Paths as the machine knows them; `below` gives the path to write to.
  std::filesystem::path etc() const { return SystemSetup::kFolder; }
  std::filesystem::path config() const { return etc() / "sallyport.yaml"; }
  std::filesystem::path policy() const { return etc() / "policy.yaml"; }
  std::filesystem::path reviewers() const { return etc() / "reviewers.yaml"; }
  std::filesystem::path system_file() const { return etc() / SystemSetup::kFile; }
  std::filesystem::path data() const { return "/var/lib/sallyport"; }
  std::filesystem::path tools_home() const { return "/var/lib/sallyport-tools"; }
  std::filesystem::path sockets() const { return "/run/sallyport"; }
  std::filesystem::path unit() const { return "/etc/systemd/system/sallyport.service"; }
  std::filesystem::path below(const std::filesystem::path& path) const {
    return root / path.relative_path();
  }
};

std::string config_text(const SetupPlace& place);
std::string policy_text();
std::string reviewers_text();
std::string unit_text(const SetupPlace& place, const std::string& program);

// How the service is started where no systemd runs.
std::string start_command(const SetupPlace& place, const std::string& program);

}  // namespace sallyport::app
