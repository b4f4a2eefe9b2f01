#include "servers/oauth_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/try.h"
#include "ledger/secret/private_file.h"
#include "terminal/input.h"

namespace sallyport::app {

namespace {

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::InvalidInput, std::move(why));
}

Result<std::string> secret_in(const std::filesystem::path& file, const std::string& setting) {
  SALLYPORT_CHECK_OK(refuse_folder(file));
  SALLYPORT_TRY(const std::optional<std::string> text, ledger::read_private_file(file));
  if (!text) {
    return fail(ErrorCode::NotFound, fmt::format("cannot read `{}`: no such file", file.string()),
                setting);
  }
  if (trimmed(*text).empty()) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{}`: there is nothing in it", setting),
                file.string());
  }
  return std::string(trimmed(*text));
}

Result<std::string> secret_of(const OAuthOptions& options, WrittenIn written) {
  if (options.client_secret_env && options.client_secret_file) {
    return refuse("give the secret of the client by a variable or by a file, not by both");
  }
  if (options.client_secret_file) {
    return secret_in(*options.client_secret_file, setting_name("--client-secret-file", written));
  }
  if (!options.client_secret_env) return std::string();
  const char* const value = std::getenv(options.client_secret_env->c_str());
  if (value == nullptr || *value == 0) {
    return refuse(fmt::format("`{}`: the variable `{}` is not set",
                              setting_name("--client-secret-env", written),
                              *options.client_secret_env));
  }
  return std::string(value);
}

}  // namespace

std::string setting_name(std::string_view option, WrittenIn written) {
  if (written == WrittenIn::Options) return std::string(option);
  if (option == "--client-credentials") return "grant: client_credentials";
  std::string key(option.substr(2));
  std::ranges::replace(key, '-', '_');
  return key;
}

Result<oauth::Application> application_of(const OAuthOptions& options, const net::Url& server,
                                          bool allow_http, WrittenIn written) {
  oauth::Application out{.server = server,
                         .allow_plain = allow_http,
                         .client_id = options.client_id.value_or(""),
                         .issuer = options.issuer.value_or(""),
                         .scope = options.scope.value_or(""),
                         .client_credentials = options.client_credentials,
                         .redirect_port = options.redirect_port};
  SALLYPORT_TRY(out.client_secret, secret_of(options, written));
  if (options.client_key_file) {
    SALLYPORT_TRY(out.client_key,
                  secret_in(*options.client_key_file, setting_name("--client-key-file", written)));
    out.client_key += '\n';
  }
  const bool proves = !out.client_secret.empty() || !out.client_key.empty();
  if (!out.client_secret.empty() && !out.client_key.empty()) {
    return refuse("a client has a secret or a key, not both");
  }
  if (proves && out.client_id.empty()) {
    return refuse(fmt::format("a client secret needs `{}`; name the client",
                              setting_name("--client-id", written)));
  }
  if (out.client_credentials && !proves) {
    return refuse(fmt::format("`{}` needs `{}`, and its secret or its key",
                              setting_name("--client-credentials", written),
                              setting_name("--client-id", written)));
  }
  return out;
}

}  // namespace sallyport::app
