#include "mcp/client/client_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kUnreadable = "(unreadable)";
constexpr std::string_view kBatchRevision = "\"2025-03-26\"";

// Methods that the stateless era no longer has.
bool is_gone(std::string_view method) {
  constexpr auto kGone =
      std::to_array<std::string_view>({"ping", "logging/setLevel", "resources/subscribe",
                                       "resources/unsubscribe", "tasks/list", "tasks/result"});
  return std::ranges::find(kGone, method) != kGone.end();
}

}  // namespace

ClientSession::ClientSession(boost::asio::any_io_executor executor, MessageDoor& door,
                             Settings settings, std::unique_ptr<ClientLink> link)
    : executor_(std::move(executor)),
      door_(door),
      settings_(std::move(settings)),
      link_(std::move(link)) {}

Async<std::optional<Message>> ClientSession::next() {
  while (received_.empty() && !link_->broken()) {
    std::optional<net::Line> line = co_await link_->next();
    if (!line) co_return std::nullopt;
    on_line(std::move(*line));
    if (received_.empty()) co_await room();  // for the error response
  }
  if (received_.empty()) co_return std::nullopt;
  Message message = std::move(received_.front());
  received_.pop_front();
  co_return message;
}

void ClientSession::on_line(net::Line line) {
  if (line.too_long) {
    return send(too_long_text(line.text, line.tail, settings_.limits.frame_bytes));
  }
  if (!is_batch(line.text) || !parse_json(line.text, settings_.limits.json())) {
    return on_text(std::move(line.text));
  }
  const std::vector<std::string_view> messages = elements(line.text);
  if (!has_batches_ || messages.empty()) {
    return send(error_text({}, kInvalidRequest, "batches belong to sessions of 2025-03-26"));
  }
  for (const std::string_view message : messages) on_text(std::string(message));
}

void ClientSession::on_text(std::string text) {
  Result<Message> message = Message::read(text, settings_.limits.json());
  if (!message) {
    if (message.error().cause == "request") {
      door_.note(MessageLog::Action::Refused, Side::Client, kUnreadable);
    }
    return send(unreadable_text(text, message.error()));
  }
  const bool answers = message->kind == Message::Kind::Response;
  door_.note_trimmed(Side::Client, *message,
                     answers ? "(response)" : std::string_view(message->method));
  received_.push_back(std::move(*message));
}

void ClientSession::note_version(std::optional<std::string_view> version) {
  if (version == kBatchRevision) has_batches_ = true;
}

void ClientSession::send(std::string text, std::string_view about) {
  if (!link_->send(std::move(text), about) && !link_->broken()) {
    settings_.log("the client does not read; a message to it was dropped");
  }
}

void ClientSession::refuse(const Message& request, std::int64_t code, std::string_view why) {
  send(error_text(request.id, code, why));
}

void ClientSession::note_profile(const Message& request) {
  if (request.method == "initialize") {
    profile_.era = Era::Legacy;
    return;
  }
  if (profile_.era == Era::Legacy || !request.is_modern()) return;
  profile_.era = Era::Modern;
  const json::object* const meta = request.meta();
  if (meta == nullptr) return;
  if (const json::object* const known = object_in(*meta, kMetaCapabilities)) {
    profile_.capabilities = *known;
  }
  if (const auto info = find(request.params_text(), {"_meta", kMetaClient})) {
    profile_.info = std::string(*info);
    const json::object* const object = object_in(*meta, kMetaClient);
    profile_.name = object ? text_or_empty(*object, "name") : "";
  }
}

void ClientSession::note_opening(const Message& request) {
  const json::object* const params = request.params();
  const json::object* const capabilities = params ? object_in(*params, "capabilities") : nullptr;
  profile_.capabilities = capabilities ? *capabilities : json::object();
  const json::object* const info = params ? object_in(*params, "clientInfo") : nullptr;
  profile_.name = info ? text_or_empty(*info, "name") : "";
  profile_.info = std::string(find(request.params_text(), {"clientInfo"}).value_or(""));
}

std::string ClientSession::era_error(const Message& request) const {
  if (profile_.era == Era::Unknown) {
    return error_text(request.id, kInvalidParams,
                      "open with `initialize`, or name a protocol version in `_meta`",
                      every_version(""));
  }
  if (profile_.era != Era::Modern) return {};
  const json::object* const meta = request.meta();
  const auto version = meta ? text_in(*meta, kMetaVersion) : std::nullopt;
  if (!version || object_in(*meta, kMetaCapabilities) == nullptr) {
    if (request.method == "server/discover") return {};
    return error_text(request.id, kInvalidParams,
                      fmt::format("`_meta` lacks `{}`", version ? kMetaCapabilities : kMetaVersion),
                      version ? json::value() : every_version(""));
  }
  if (*version != kModernVersion) {
    return error_text(request.id, kUnsupportedVersion, "this protocol version is not supported",
                      modern_version(*version));
  }
  return is_gone(request.method) ? error_text(request.id, kMethodNotFound, "Method not found")
                                 : std::string();
}

std::pair<const std::string, OpenRequest>* ClientSession::of_token(const std::string& token) {
  const auto found = std::ranges::find_if(
      requests_, [&](const auto& open) { return !token.empty() && open.second.token == token; });
  return found == requests_.end() ? nullptr : &*found;
}

std::size_t ClientSession::unanswered() const {
  return static_cast<std::size_t>(std::ranges::count_if(requests_, [](const auto& entry) {
    return !entry.second.endless && !entry.second.listening;
  }));
}

// On standard streams, a notification that the request is cancelled follows the result. Over HTTP
// the stream has ended then, and the link drops it.
void ClientSession::end_subscription(const std::string& id, std::string_view result) {
  send(ended_subscription(id, result));
  send(notification_text("notifications/cancelled", "{\"requestId\":" + id + '}'), id);
}

void ClientSession::end_all(std::string_view why) {
  for (const auto& [id, request] : std::exchange(requests_, {})) {
    if (request.endless || request.listening) {
      end_subscription(id, "{}");
    } else {
      send(error_text(id, kInternalError, why));
    }
  }
}

ClientSession::Question ClientSession::open_question() {
  const std::string id = std::to_string(next_number());
  const auto answer = std::make_shared<AwaitedAnswer>(executor_);
  questions_[id] = answer;
  return {id, answer};
}

std::shared_ptr<AwaitedAnswer> ClientSession::close_question(const std::string& id) {
  const auto found = questions_.find(id);
  if (found == questions_.end()) return nullptr;
  const std::shared_ptr<AwaitedAnswer> answer = std::move(found->second);
  questions_.erase(found);
  return answer;
}

void ClientSession::on_response(Message answer) {
  if (const auto awaited = close_question(answer.id)) awaited->put(std::move(answer));
}

}  // namespace sallyport::mcp
