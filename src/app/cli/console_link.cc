// `sallyport console`: a link that opens the web console once.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/cli/console_commands.h"
#include "app/daemon/console_door.h"
#include "app/governed_process.h"
#include "app/output.h"
#include "app/people/login.h"
#include "app/servers/browser.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "net/unix_socket.h"

namespace sallyport::app {

namespace {

net::UnixSocket::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

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
  std::string ledger;
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_TRY(const auto text, view.fact("ledger", "key"));
    SALLYPORT_TRY(const ledger::VerifierKey key, ledger::VerifierKey::parse(text.value_or("")));
    ledger = key.name;
    return {};
  }));
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

Result<json::object> ask(const std::filesystem::path& data_dir, const json::object& question) {
  Result<net::UnixSocket> daemon = net::UnixSocket::connect(data_dir, kConsoleSocket);
  if (!daemon) {
    return fail(ErrorCode::Unavailable,
                fmt::format("no `sallyport serve` with a console runs on {} ({})",
                            data_dir.string(), daemon.error().message));
  }
  SALLYPORT_TRY(const std::string greeting,
                daemon->receive_frame(kConsoleGreeting.size(), in(std::chrono::seconds(2))));
  if (greeting != kConsoleGreeting) {
    return fail(ErrorCode::Unavailable,
                "the program that listens there is not a console of this version");
  }
  SALLYPORT_CHECK_OK(daemon->send_frame(json::serialize(question), in(std::chrono::seconds(2))));
  SALLYPORT_TRY(const std::string frame,
                daemon->receive_frame(kLargestConsoleFrame, in(std::chrono::seconds(5))));
  SALLYPORT_TRY(const ParsedJson answer, parse_json(frame, {.bytes = kLargestConsoleFrame}));
  const json::object* const said = answer.value.if_object();
  if (said == nullptr) return fail(ErrorCode::Unavailable, "the daemon gave no answer");
  if (const auto error = text_in(*said, "error")) {
    return fail(ErrorCode::Unauthenticated, std::string(*error));
  }
  return *said;
}

}  // namespace

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
  SALLYPORT_TRY(const json::object said, ask(place.data_dir, question));
  const std::string url = text_or_empty(said, "url");
  if (context.json()) {
    say(json::serialize(said));
  } else {
    say(url);
  }
  SALLYPORT_CHECK_OK(finish_output());
  if (options.open) open_in_browser(url);
  return 0;
}

}  // namespace sallyport::app
