// The login options of a command, as typed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sallyport::app {

struct LoginOptions {
  std::optional<std::filesystem::path> key_file;
  std::optional<std::filesystem::path> passphrase_file;
  std::optional<std::string> passphrase_fd;
  std::optional<std::filesystem::path> token_file;
  std::optional<std::string> name;  // the owner of the token
  // A policy that names people; commands that change evidence or authority do not take it.
  std::optional<std::filesystem::path> reviewers;
};

}  // namespace sallyport::app
