// `sallyport mcp login` and `logout`: tokens for a tool server that asks who we are.
#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <iostream>

#include "base/run_on.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "cli/common_options.h"
#include "oauth/exchange.h"
#include "oauth/login.h"
#include "servers/account_file.h"
#include "servers/browser.h"
#include "servers/oauth_client.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct McpLoginOptions {
  std::string url;
  bool allow_http = false;
  OAuthOptions oauth;
  std::string wait = "5m";  // for the person
  bool no_browser = false;  // only print the address
};

struct McpLogoutOptions {
  std::string url;
  bool allow_http = false;
};

// Asks the server which login it requires. The rest of its response is ignored.
Task<oauth::Response> request_challenge(oauth::Application application) {
  net::HttpRequest request{.headers = {{"Accept", "application/json, text/event-stream"},
                                       {"Content-Type", "application/json"}},
                           .body = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"};
  oauth::Destination to{application.server, application.allow_plain};
  return oauth::exchange(std::move(to), std::move(request));
}

Task<oauth::Account> log_in_to_server(oauth::Login login) {
  SALLYPORT_CO_TRY(const oauth::Response answer, co_await request_challenge(login.application));
  const oauth::Challenge challenge =
      oauth::bearer_challenge(answer.headers).value_or(oauth::Challenge{});
  Result<oauth::Account> account = login.application.client_credentials
                                       ? co_await oauth::log_in_client(login, challenge)
                                       : co_await oauth::log_in(login, challenge);
  if (!account && account.error().code == ErrorCode::NotFound && answer.status < 300) {
    co_return fail(ErrorCode::NotFound, "the server needs no login; use it without one");
  }
  co_return account;
}

Result<void> print_account(const Context& context, const oauth::Account& account,
                           const AccountFile& file, bool kept) {
  const std::string scope = account.tokens.scope.empty() ? account.scope : account.tokens.scope;
  const std::string until =
      account.tokens.expires ? rfc3339(*account.tokens.expires) : std::string();
  if (context.json()) {
    json::object shown{{"server", account.server},
                       {"issuer", account.issuer},
                       {"scope", scope},
                       {"renews_itself", !account.tokens.refresh.empty()}};
    if (!until.empty()) shown["expires"] = until;
    if (kept) shown["file"] = file.path().string();
    print_line(visible_json(json::serialize(shown)));
    return finish_output();
  }
  print_line(visible(fmt::format("logged in at {} for {}{}", account.issuer, account.server,
                                 scope.empty() ? "" : " (" + scope + ')')));
  if (!until.empty()) {
    print_line(fmt::format(
        "the token is good until {}{}", until,
        account.tokens.refresh.empty() ? ", then log in again" : " and renews itself then"));
  }
  if (kept) print_line(fmt::format("it is kept in {}", file.path().string()));
  return finish_output();
}

Result<oauth::Account> known_account(AccountFile& file) {
  SALLYPORT_TRY(std::optional<oauth::Account> account, file.load());
  if (!account) return fail(ErrorCode::NotFound, "there is no login for this server");
  return std::move(*account);
}

Result<int> mcp_login(const Context& context, const McpLoginOptions& options) {
  SALLYPORT_TRY(const net::Url url, net::Url::parse(options.url));
  SALLYPORT_TRY(const oauth::Application application,
                application_of(options.oauth, url, options.allow_http));
  // The browser does not see it.
  if (options.oauth.client_secret_env) unsetenv(options.oauth.client_secret_env->c_str());
  const auto wait = parse_duration(options.wait);
  if (!wait || wait->count() == 0) {
    return fail(ErrorCode::InvalidInput, no_duration(options.wait, "90s or 10m"), "--wait");
  }
  SALLYPORT_TRY(const std::filesystem::path data_dir, context.data_dir());
  AccountFile file(data_dir, application);
  // A damaged file is replaced; one that others can read is an error.
  Result<std::optional<oauth::Account>> before = file.load();
  if (!before && before.error().code != ErrorCode::Corrupt) {
    return std::unexpected(before.error());
  }
  const auto show = [&](const std::string& page) {
    std::cerr << "open this page, and come back when it says so:\n\n  " << page << "\n\n";
    if (!options.no_browser) open_in_browser(page);
  };
  const SystemClock clock;
  SystemEntropy entropy;
  boost::asio::io_context loop(1);
  oauth::Login login{
      application, clock, entropy, {show, *wait}, before ? std::move(*before) : std::nullopt};
  SALLYPORT_TRY(const oauth::Account account, run_on(loop, log_in_to_server(std::move(login))));
  // For a client that logs in itself, tokens and secret are not stored.
  SALLYPORT_CHECK_OK(
      file.save(application.client_credentials ? oauth::binding_of(account) : account));
  SALLYPORT_CHECK_OK(print_account(context, account, file, !application.client_credentials));
  return 0;
}

Result<int> mcp_logout(const Context& context, const McpLogoutOptions& options) {
  SALLYPORT_TRY(const net::Url url, net::Url::parse(options.url));
  SALLYPORT_TRY(const std::filesystem::path data_dir, context.data_dir());
  const oauth::Application application{.server = url, .allow_plain = options.allow_http};
  AccountFile file(data_dir, application);
  const Result<oauth::Account> account = known_account(file);
  if (!account && account.error().code != ErrorCode::Corrupt) {
    return std::unexpected(account.error());
  }
  bool revoked = false;
  if (account) {
    const SystemClock clock;
    SystemEntropy entropy;
    revoked =
        run_alone(oauth::revoke_tokens(application, *account, clock, entropy)).value_or(false);
  }
  SALLYPORT_CHECK_OK(file.remove());
  if (context.json()) {
    print_line(json::serialize(json::object{{"server", url.text()}, {"revoked", revoked}}));
  } else {
    print_line(fmt::format(
        "the tokens for {} are removed{}", url.text(),
        revoked ? " and worth nothing any more"
                : "; the authorization server was not told, they expire by themselves"));
  }
  SALLYPORT_CHECK_OK(finish_output());
  return 0;
}

const Command kMcpLogin(
    "mcp login", "log in to a tool server, with a browser", mcp_login,
    [](Syntax& syntax, McpLoginOptions& options) {
      syntax.text("--url", options.url, "address of the tool server", "URL").required();
      syntax.flag("--allow-http", options.allow_http, "allow plain HTTP to another machine");
      oauth_options(syntax, options.oauth);
      syntax.text("--wait", options.wait, "how long to wait for the login, as 90s or 10m [5m]",
                  "TIME");
      syntax.flag("--no-browser", options.no_browser, "only print the address to open");
    });

const Command kMcpLogout(
    "mcp logout", "delete the tokens for a tool server", mcp_logout,
    [](Syntax& syntax, McpLogoutOptions& options) {
      syntax.text("--url", options.url, "address of the tool server", "URL").required();
      syntax.flag("--allow-http", options.allow_http, "allow plain HTTP to another machine");
    });

}  // namespace

}  // namespace sallyport::app
