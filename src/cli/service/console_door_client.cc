#include "cli/service/console_door_client.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "daemon/door/console_door.h"
#include "ledger/proof/note.h"
#include "ledger/read/look_at.h"
#include "net/unix_socket.h"

namespace sallyport::app {

namespace {

net::UnixSocket::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

}  // namespace

Result<json::object> ask_console_door(const std::filesystem::path& data_dir,
                                      const json::object& question) {
  Result<net::UnixSocket> daemon = net::UnixSocket::connect(data_dir, kConsoleSocket);
  if (!daemon) {
    return fail(ErrorCode::Unavailable,
                fmt::format("no `sallyport serve` with a console runs on {} ({}); start `sallyport "
                            "serve --config FILE` first",
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
  const json::object* const response = answer.value.if_object();
  if (response == nullptr) return fail(ErrorCode::Unavailable, "the daemon gave no answer");
  if (const auto error = text_in(*response, "error")) {
    return fail(ErrorCode::Unauthenticated, std::string(*error));
  }
  return *response;
}

Result<std::string> origin_of(Workspace& workspace) {
  SALLYPORT_TRY(const auto text, ledger::look_at(workspace.store(), [](ledger::ReadView& view) {
                  return view.fact("ledger", "key");
                }));
  SALLYPORT_TRY(const ledger::VerifierKey key, ledger::VerifierKey::parse(text.value_or("")));
  return key.name;
}

}  // namespace sallyport::app
