#include "daemon/door/relay_door.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/uuid.h"
#include "daemon_client/service_line.h"
#include "machine/accounts.h"

namespace sallyport::app {

namespace asio = boost::asio;

namespace {

net::FrameServer::Settings relay_settings(const ServeConfig& config) {
  return {.greeting = std::string(kRelayGreeting),
          .reach = net::Reach::Public,
          .connections = config.sessions,
          .connections_each = (config.sessions + 1) / 2,
          .question_bytes = kLargestRelayQuestion};
}

std::string refusal_frame(std::string_view why) {
  return json::serialize(json::object{{"error", why}});
}

}  // namespace

RelayDoor::RelayDoor(Gate& gate, const ServeConfig& config,
                     const std::vector<ServedUpstream>& upstreams)
    : gate_(gate),
      config_(config),
      upstreams_(upstreams),
      server_(gate.loop().get_executor(), relay_settings(config),
              [&gate](std::string_view line) { gate.log(line); }) {
  for (const ServedUpstream& upstream : upstreams) each_[upstream.name] = {upstream};
}

Result<void> RelayDoor::open() {
  return server_.listen(*config_.socket_dir, kRelaySocket);
}

Async<void> RelayDoor::run(std::chrono::milliseconds patience) {
  co_await server_.run(
      [this](net::Peer peer, std::string frame) { return answer(peer, std::move(frame)); },
      patience);
}

void RelayDoor::stop() {
  server_.stop();
  for (const auto& conversation : running_) conversation->stop();
}

Result<mcp::HttpFront::Open> RelayDoor::opener_of(const std::string& server) {
  if (upstreams_.empty()) {
    return fail(ErrorCode::NotFound,
                "the configuration of the service names no tool server under `serve.upstreams`");
  }
  if (server.empty()) return gateways(gate_, upstreams_);
  const auto found = each_.find(server);
  if (found != each_.end()) return gateways(gate_, found->second);
  return fail(ErrorCode::NotFound,
              fmt::format("the configuration of the service names no tool server `{:.100}`; an "
                          "administrator adds it under `serve.upstreams`",
                          server));
}

// Records the client, as the kernel knows it, before its first message.
Async<std::optional<RelayDoor::Response>> RelayDoor::answer(net::Peer peer, std::string frame) {
  const Result<ParsedJson> parsed = parse_json(frame);
  const json::object* const question = parsed ? parsed->value.if_object() : nullptr;
  if (question == nullptr) co_return std::nullopt;
  const std::string server = text_or_empty(*question, "server");
  const Result<mcp::HttpFront::Open> open = opener_of(server);
  if (!open) co_return Response{refusal_frame(open.error().message)};
  Workspace& workspace = gate_.workspace();
  const mcp::HttpFront::Caller caller{
      .principal = "uid:" + name_of_user(peer.uid),
      .session_id = "relay-" + uuid7_text(workspace.clock(), workspace.entropy())};
  std::vector<core::Draft> drafts;
  drafts.push_back(
      {.kind = core::Kind::Topic,
       .subject = Subject{.session_id = caller.session_id, .agent_id = caller.principal},
       .topic = "clients",
       .body = {
           {"kind", "relay_opened"}, {"uid", peer.uid}, {"pid", peer.pid}, {"server", server}}});
  const auto written =
      co_await gate_.recorder().append(std::move(drafts), core::Urgency::Announces);
  if (!written) co_return Response{refusal_frame(written.error().message)};
  co_return Response{
      json::serialize(json::object{{"ok", true}}),
      [this, caller, open = *open](int descriptor) { return converse(caller, open, descriptor); }};
}

Async<void> RelayDoor::converse(mcp::HttpFront::Caller caller, mcp::HttpFront::Open open,
                                int descriptor) {
  const int other = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (other < 0) {
    ::close(descriptor);
    gate_.log("a relay is turned away: no open files are left");
    co_return;
  }
  auto link = std::make_unique<mcp::StreamLink>(gate_.loop().get_executor(), mcp::Limits{}, other,
                                                descriptor);
  const std::shared_ptr<mcp::Conversation> conversation = open(caller, std::move(link));
  running_.insert(conversation);
  const Result<void> ended = co_await conversation->run();
  running_.erase(conversation);
  if (!ended) {
    gate_.log(fmt::format("a session of {} ended: {}", caller.principal, ended.error().message));
  }
  // The relay need not wait for abandoned calls.
  ::shutdown(descriptor, SHUT_RDWR);
  asio::steady_timer pause(gate_.loop());
  boost::system::error_code ignored;
  while (!conversation->quiet()) {
    pause.expires_after(std::chrono::milliseconds(100));
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

}  // namespace sallyport::app
