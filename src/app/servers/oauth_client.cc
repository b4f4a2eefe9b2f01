#include "app/servers/oauth_client.h"

#include <fmt/format.h>

#include <cstdlib>

#include "app/terminal/input.h"
#include "base/try.h"
#include "ledger/secret/private_file.h"

namespace sallyport::app {

namespace {

std::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::InvalidInput, std::move(why));
}

Result<std::string> secret_in(const std::filesystem::path& file, const char* option) {
  SALLYPORT_TRY(const std::optional<std::string> text, ledger::read_private_file(file));
  if (!text || trimmed(*text).empty()) {
    return fail(ErrorCode::InvalidInput, fmt::format("`{}`: there is nothing in it", option),
                file.string());
  }
  return std::string(trimmed(*text));
}

Result<std::string> secret_of(const OAuthOptions& options) {
  if (options.client_secret_env && options.client_secret_file) {
    return refuse("give the secret of the client by a variable or by a file, not by both");
  }
  if (options.client_secret_file) {
    return secret_in(*options.client_secret_file, "--client-secret-file");
  }
  if (!options.client_secret_env) return std::string();
  const char* const value = std::getenv(options.client_secret_env->c_str());
  if (value == nullptr || *value == 0) {
    return refuse(fmt::format("`--client-secret-env`: the variable `{}` is not set",
                              *options.client_secret_env));
  }
  return std::string(value);
}

}  // namespace

Result<oauth::Application> application_of(const OAuthOptions& options, const net::Url& server,
                                          bool allow_http) {
  oauth::Application out{.server = server,
                         .allow_plain = allow_http,
                         .client_id = options.client_id.value_or(""),
                         .issuer = options.issuer.value_or(""),
                         .scope = options.scope.value_or(""),
                         .client_credentials = options.client_credentials,
                         .redirect_port = options.redirect_port};
  SALLYPORT_TRY(out.client_secret, secret_of(options));
  if (options.client_key_file) {
    SALLYPORT_TRY(out.client_key, secret_in(*options.client_key_file, "--client-key-file"));
    out.client_key += '\n';
  }
  const bool proves = !out.client_secret.empty() || !out.client_key.empty();
  if (!out.client_secret.empty() && !out.client_key.empty()) {
    return refuse("a client has a secret or a key, not both");
  }
  if (proves && out.client_id.empty()) {
    return refuse("a client secret needs `--client-id`; name the client");
  }
  if (out.client_credentials && !proves) {
    return refuse("`--client-credentials` needs `--client-id`, and its secret or its key");
  }
  return out;
}

}  // namespace sallyport::app
