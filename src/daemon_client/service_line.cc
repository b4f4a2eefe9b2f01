#include "daemon_client/service_line.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "net/unix_socket.h"

namespace sallyport::app {

namespace {

using net::UnixSocket;

UnixSocket::Deadline until_in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

std::unexpected<Error> not_answering(const Error& why) {
  return fail(
      why.code,
      fmt::format("the service of this machine does not answer: {}; an administrator starts "
                  "it with `systemctl start sallyport`",
                  why.message),
      why.where);
}

Result<UnixSocket> greeted(const SystemSetup& setup, const char* name, std::string_view greeting,
                           const HookPatience& patience) {
  Result<UnixSocket> service =
      UnixSocket::connect_public(setup.socket_dir, name, setup.service_uid);
  if (!service) return not_answering(service.error());
  const Result<std::string> received =
      service->receive_frame(greeting.size(), until_in(patience.greeting));
  if (!received) return not_answering(received.error());
  if (*received != greeting) {
    return fail(ErrorCode::Unavailable,
                "the service of this machine is of another release; restart it");
  }
  return service;
}

Result<std::string> answer_to(UnixSocket& service, std::string_view frame, std::size_t most,
                              const HookPatience& patience) {
  Result<void> sent = service.send_frame(frame, until_in(patience.question));
  if (!sent) return not_answering(sent.error());
  Result<std::string> answer = service.receive_frame(most, until_in(patience.answer));
  if (!answer) return not_answering(answer.error());
  return answer;
}

}  // namespace

Result<HookAnswer> ask_service(const SystemSetup& setup, const HookMessage& message,
                               const HookPatience& patience) {
  SALLYPORT_TRY(UnixSocket service, greeted(setup, kHookSocket, kHookGreeting, patience));
  SALLYPORT_TRY(const std::string answer,
                answer_to(service, to_frame(message), kLargestHookAnswer, patience));
  return hook_answer_in(answer);
}

Result<void> record_refused(const SystemSetup& setup, const std::string& command) {
  SALLYPORT_TRY(UnixSocket service, greeted(setup, kHookSocket, kHookGreeting, kServicePatience));
  SALLYPORT_CHECK_OK(
      answer_to(service, to_frame(RefusedCommand{command}), kLargestHookAnswer, kServicePatience));
  return {};
}

Result<int> open_relay(const SystemSetup& setup, const std::string& server) {
  SALLYPORT_TRY(UnixSocket service, greeted(setup, kRelaySocket, kRelayGreeting, kServicePatience));
  json::object question;
  if (!server.empty()) question["server"] = server;
  SALLYPORT_TRY(const std::string answer, answer_to(service, json::serialize(question),
                                                    kLargestRelayQuestion, kServicePatience));
  SALLYPORT_TRY(const ParsedJson parsed, parse_json(answer));
  const json::object* const response = parsed.value.if_object();
  if (response != nullptr && bool_in(*response, "ok").value_or(false)) return service.release();
  return fail(ErrorCode::NotFound, response == nullptr ? "the service gave no answer"
                                                       : text_or_empty(*response, "error"));
}

}  // namespace sallyport::app
