// `sallyport console`: a link that opens the web console once.

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "cli/service/console_door_client.h"
#include "cli/terminal/qr_code.h"
#include "daemon/door/console_door.h"
#include "people/agent_ancestry.h"
#include "people/login.h"
#include "servers/browser.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct ConsoleOptions {
  std::optional<std::string> as;  // a reviewer with a key; no value: read access only
  bool open = false;              // in a browser
  bool qr = false;                // also as a QR code
  LoginOptions login{};
};

// Signed with the key of the person, which its passphrase opens.
Result<json::object> signed_login(const Context& context, const ConsoleOptions& options) {
  LoginOptions login = options.login;
  login.token_file.reset();
  login.name.reset();
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  if (!login.key_file && options.as) {
    login.key_file = approver_key_file(place.data_dir, *options.as);
  }
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  SALLYPORT_TRY(const Login person, log_in(context, login, "console"));
  if (!person.key || (options.as && person.name != *options.as)) {
    return fail(ErrorCode::Unauthenticated, "this key belongs to another person");
  }
  SALLYPORT_TRY(const std::string ledger, origin_of(*workspace));
  std::array<std::uint8_t, 16> bytes{};
  workspace->entropy().fill(bytes);
  const std::string nonce = hex(bytes);
  const std::string at = rfc3339(workspace->clock().wall());
  return json::object{
      {"reviewer", person.name},
      {"nonce", nonce},
      {"at", at},
      {"signature", person.key->sign(console_statement(person.name, ledger, nonce, at))}};
}

Result<int> console_link(const Context& context, const ConsoleOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "console"));
  SALLYPORT_TRY(const Workspace::Place place, context.place());
  const LoginOptions& login = options.login;
  const bool as_person =
      options.as || login.key_file || login.passphrase_file || login.passphrase_fd;
  json::object question;
  if (as_person) {
    SALLYPORT_TRY(question["login"], signed_login(context, options));
  }
  SALLYPORT_TRY(const json::object response, ask_console_door(place.data_dir, question));
  const std::string url = text_or_empty(response, "url");
  if (context.json()) {
    print_line(json::serialize(response));
  } else {
    print_line(url);
    if (options.qr) {
      SALLYPORT_TRY(const std::vector<std::string> lines, qr_lines(url));
      for (const std::string& line : lines) print_line(line);
    }
  }
  SALLYPORT_CHECK_OK(finish_output());
  if (options.open) open_in_browser(url);
  return 0;
}

const Command kConsole("console", "print a link that opens the web console of `serve` once",
                       console_link, [](Syntax& syntax, ConsoleOptions& options) {
                         syntax.text("--as", options.as,
                                     "sign in as this reviewer, with the key [read only]", "NAME");
                         syntax.flag("--open", options.open, "open it in a browser");
                         syntax.flag("--qr", options.qr, "show it as a QR code too");
                         own_key_options(syntax, options.login);
                       });

}  // namespace

}  // namespace sallyport::app
