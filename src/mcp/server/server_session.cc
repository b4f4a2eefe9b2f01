#include "mcp/server/server_session.h"

#include <fmt/format.h>

#include "mcp/message/json_text.h"

namespace sallyport::mcp {

ServerSession::ServerSession(boost::asio::any_io_executor executor, Parts parts, Settings settings)
    : executor_(executor),
      parts_(parts),
      settings_(std::move(settings)),
      link_(settings_.make({executor, settings_.limits, *this, settings_.log,
                            [this](std::string_view line) {
                              settings_.log(fmt::format("[{}] {}", settings_.name, line));
                            }})),
      standing_(*link_, parts_.client, settings_.limits),
      tools_({parts_.clock, parts_.redactor, parts_.pins, parts_.door, *this},
             {settings_.name, settings_.limits, settings_.log}),
      opening_(
          {*link_, parts_.listener, tools_, standing_, parts_.client, parts_.clock, parts_.tasks},
          {settings_.era, settings_.offers_all, settings_.limits, settings_.log}) {}

Task<void> ServerSession::run() {
  Result<void> kept = co_await link_->run();
  if (!kept) opening_.give_up(kept.error());
  co_return kept;
}

std::shared_ptr<ForwardedCall> ServerSession::upstream(ForwardedCall::Parts parts, Message request,
                                                       CallParams call_params) {
  return std::make_shared<ForwardedCall>(
      std::move(parts), std::move(request), std::move(call_params),
      std::make_shared<Inbox>(executor_, settings_.limits.progress));
}

bool ServerSession::has(Era server, Era client) const {
  return opening_.era() == server && parts_.client.era == client;
}

std::string ServerSession::params_for(std::string params, Words words) const {
  const bool stateless =
      words == Words::Own ? opening_.era() == Era::Modern : has(Era::Modern, Era::Legacy);
  if (stateless) return modern_params(params, standing_.client_facts());
  if (words == Words::OfClient && has(Era::Legacy, Era::Modern)) return legacy_params(params);
  return params;
}

std::string ServerSession::text_for(const Message& request) const {
  if (parts_.client.era == opening_.era()) return request.text;
  const std::string params = params_for(std::string(request.params_text()), Words::OfClient);
  return params.empty() ? request.text : with_member(request.text, "params", params);
}

core::UpstreamFacts ServerSession::facts(const std::string& name) const {
  const ToolDefinition* const listed = tool(name);
  return {.command = settings_.command,
          .read_only_hint = listed ? listed->read_only : std::nullopt,
          .definition_changed = tools_.held(name),
          .remote_files = settings_.command.empty()};
}

Async<void> ServerSession::on_server_request(Message request) {
  if (request.method == "ping") {
    link_->send(result_text(request.id, "{}"));
    co_return;
  }
  co_await parts_.listener.on_server_request(std::move(request));
}

Async<void> ServerSession::on_server_notification(Message notification) {
  if (notification.method == "notifications/tools/list_changed") tools_.forget();
  co_await parts_.listener.on_server_notification(std::move(notification));
}

void ServerSession::server_started(bool again) {
  if (parts_.meter != nullptr) parts_.meter->server_started(settings_.name, again);
  opening_.started(again);
}

void ServerSession::server_ended(const std::string& reason) {
  opening_.ended();
  parts_.listener.server_ended();
  if (!ends_) settings_.log(reason);
}

}  // namespace sallyport::mcp
