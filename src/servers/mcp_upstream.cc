#include "servers/mcp_upstream.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/try.h"
#include "machine/environment.h"
#include "mcp/server/remote_server.h"
#include "mcp/server/server_name.h"
#include "mcp/server/stdio_server.h"
#include "oauth/token_holder.h"
#include "servers/account_file.h"
#include "servers/browser.h"
#include "servers/oauth_client.h"

namespace sallyport::app {

namespace {

Result<std::string> token_in(const std::string& variable, WrittenIn written) {
  const char* const value = std::getenv(variable.c_str());
  if (value == nullptr || *value == 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}`: the variable `{}` is not set",
                            setting_name("--bearer-env", written), variable));
  }
  return std::string(value);
}

// A command for people to copy. Without the query, which may hold secrets from the model.
std::string login_command(const McpOptions& options, const LoginMeans& means, const net::Url& url) {
  Environment usual = Environment::of_this_process();
  usual.data_dir.reset();
  const Result<std::filesystem::path> folder = default_data_dir(usual);
  std::string command =
      fmt::format("sallyport mcp login --url {}{}", url.text(),
                  url.target.find('?') == std::string::npos ? "" : "?... (the whole address)");
  if (options.oauth.client_id) command += " --client-id " + *options.oauth.client_id;
  if (options.allow_http) command += " --allow-http";
  if (!folder || *folder != means.data_dir) command += " --data-dir " + means.data_dir.string();
  return command;
}

Result<std::shared_ptr<oauth::Credentials>> credentials_of(const McpOptions& options,
                                                           const LoginMeans& means,
                                                           const net::Url& url) {
  SALLYPORT_TRY(oauth::Application application,
                application_of(options.oauth, url, options.allow_http, options.written));
  std::function<void(const std::string&)> open_page;
  if (options.login) open_page = open_in_browser;
  auto file = std::make_unique<AccountFile>(means.data_dir, application);
  return std::make_shared<oauth::TokenHolder>(
      oauth::TokenHolder::Settings{.application = std::move(application),
                                   .clock = means.clock,
                                   .entropy = means.entropy,
                                   .vault = std::move(file),
                                   .open_page = std::move(open_page),
                                   .login_command = login_command(options, means, url)});
}

Result<McpUpstream> remote(const McpOptions& options, const LoginMeans& means) {
  if (!options.command.empty()) {
    return fail(ErrorCode::InvalidInput, "give either `--url` or a command, not both");
  }
  SALLYPORT_TRY(net::Url url, net::Url::parse(*options.url));
  mcp::RemoteServer::Place place{.url = url, .allow_plain = options.allow_http};
  if (options.bearer_env) {
    if (options.login || options.oauth != OAuthOptions{}) {
      return fail(ErrorCode::InvalidInput,
                  "`--bearer-env` names a token, so there is nothing to log in for");
    }
    SALLYPORT_TRY(place.bearer, token_in(*options.bearer_env, options.written));
  } else {
    SALLYPORT_TRY(place.credentials, credentials_of(options, means, url));
  }
  SALLYPORT_TRY(mcp::ServerMaker make, mcp::RemoteServer::maker(std::move(place)));
  return McpUpstream{url.host, *options.url, std::move(make)};
}

}  // namespace

Result<McpUpstream> upstream_of(const McpOptions& options, const LoginMeans& means,
                                std::optional<net::RunAs> run_as) {
  if (options.url) return remote(options, means);
  if (options.bearer_env || options.allow_http || options.login ||
      options.oauth != OAuthOptions{}) {
    return fail(ErrorCode::InvalidInput,
                "`--bearer-env`, `--allow-http`, `--login` and what belongs to a login are for a "
                "server that is named by `--url`");
  }
  if (options.command.empty()) {
    return fail(ErrorCode::InvalidInput,
                "no server is named; write its command behind `--`, as in `sallyport mcp -- npx "
                "some-server`, or its address, as in `sallyport mcp --url https://host/mcp`");
  }
  std::string identity;
  for (const std::string& word : options.command) identity += word + '\0';
  return McpUpstream{mcp::name_of_command(options.command), std::move(identity),
                     mcp::StdioServer::maker(options.command, std::move(run_as))};
}

mcp::EraHint era_hint(const McpOptions& options, EraCache cache, WallTime now) {
  if (options.era == "legacy") return {.era = mcp::Era::Legacy, .pinned = true};
  if (options.era == "modern") return {.era = mcp::Era::Modern, .pinned = true};
  return {.era = cache.read(now), .on_found = [cache](mcp::Era era) { cache.write(era); }};
}

}  // namespace sallyport::app
