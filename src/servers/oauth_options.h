// Settings for the login to a tool server, from the command line or the configuration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::app {

// Where a person wrote the settings of a tool server. Errors name them as they are named there.
enum class WrittenIn { Options, Configuration };
// `option` is a name such as `--client-id`.
std::string setting_name(std::string_view option, WrittenIn written);

// Our client at the authorization server of a tool server.
struct OAuthOptions {
  std::optional<std::string> client_id;          // or the address of its description
  std::optional<std::string> client_secret_env;  // the variable that holds its secret
  std::optional<std::filesystem::path> client_secret_file;
  std::optional<std::filesystem::path> client_key_file;  // PEM, to sign with instead
  bool client_credentials = false;                       // the client logs in, not a person
  std::optional<std::string> issuer;
  std::optional<std::string> scope;
  std::uint16_t redirect_port = 0;  // 0: any

  bool operator==(const OAuthOptions&) const = default;
};

}  // namespace sallyport::app
