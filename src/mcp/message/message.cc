#include "mcp/message/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/exact_numbers.h"
#include "base/json_members.h"
#include "base/try.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

// The id of a message of our own until it is sent: JSON text, the number 0.
constexpr std::string_view kOwnId = "0";

std::unexpected<Error> no_message(std::string why) {
  return fail(ErrorCode::InvalidInput, std::move(why), {}, "request");
}

bool is_id(const json::value& value) {
  return value.is_string() || value.is_int64() || value.is_uint64();
}

// A server may ignore a blank or a zero byte in a method. Such names are invalid, so that no
// unknown method passes for a known one.
bool is_method(std::string_view method) {
  return std::ranges::all_of(method, [](char c) { return c > ' ' && c < 0x7F; });
}

Result<ParsedJson> parse_part(std::string_view text, const JsonLimits& limits) {
  Result<ParsedJson> parsed = parse_json(text, limits);
  if (!parsed && parsed.error().cause != kOverLimit) parsed.error().cause = "parse";
  return parsed;
}

// As the parser counts them: all values, and the names of members.
std::size_t values_in(const json::value& value) {
  std::size_t count = 1;
  if (const json::object* const object = value.if_object()) {
    for (const auto& member : *object) count += 1 + values_in(member.value());
  } else if (const json::array* const array = value.if_array()) {
    for (const json::value& each : *array) count += values_in(each);
  }
  return count;
}

// Adds or changes one member of `message` and its text.
Result<void> set_member(Message& message, std::string_view name, std::string_view changed,
                        std::string text, JsonLimits limits) {
  // The limits are of the whole message.
  limits.bytes -= std::min(limits.bytes, text.size() - changed.size());
  limits.depth -= std::min<std::size_t>(limits.depth, 1);
  SALLYPORT_TRY(ParsedJson parsed, parse_part(changed, limits));
  if (name == "params" && !parsed.value.is_object() && !parsed.value.is_null()) {
    return no_message("`params` is not an object");
  }
  json::object& object = message.value.get_object();
  if (const json::value* const old = object.if_contains(name)) {
    message.values -= 1 + values_in(*old);
  }
  object[name] = std::move(parsed.value);
  message.values += 1 + parsed.values;
  message.exact = message.exact && parsed.exact;
  message.text = std::move(text);
  return {};
}

bool belongs(std::string_view name, Message::Kind kind) {
  if (name == "jsonrpc") return true;
  switch (kind) {
    case Message::Kind::Request:
      return name == "id" || name == "method" || name == "params";
    case Message::Kind::Notification:
      return name == "method" || name == "params";
    case Message::Kind::Response:
      return name == "id" || name == "result" || name == "error";
  }
  return false;
}

// Removes the members that do not belong to this kind of message.
void drop_foreign_members(Message& message) {
  json::object& object = message.value.get_object();
  std::vector<std::string> strangers;
  for (const auto& member : object) {
    if (!belongs(member.key(), message.kind)) strangers.emplace_back(member.key());
  }
  if (strangers.empty()) return;
  message.dropped += strangers.size();
  std::string kept = "{";
  for (const auto& [name, value] : members(message.text)) {
    if (!belongs(name, message.kind)) continue;
    if (kept.size() > 1) kept += ',';
    kept += json_quoted(name);
    kept += ':';
    kept += value;
  }
  message.text = kept + '}';
  for (const std::string& name : strangers) object.erase(name);
}

// Reduces an error to its three members with their types, for guards and clients.
void shape_error(Message& message) {
  json::object& error = message.value.get_object()["error"].get_object();
  const json::value* const code = error.if_contains("code");
  const json::value* const words = error.if_contains("message");
  const bool has_data = error.contains("data");
  const bool good_code = code != nullptr && code->is_int64();
  const bool good_words = words != nullptr && words->is_string();
  const std::size_t known =
      (code != nullptr ? 1u : 0u) + (words != nullptr ? 1u : 0u) + (has_data ? 1u : 0u);
  if (good_code && good_words && known == error.size()) return;
  message.dropped += error.size() - known;
  const std::string data(has_data ? *find(message.text, {"error", "data"}) : std::string_view());
  json::object shaped{{"code", good_code ? code->get_int64() : kInternalError},
                      {"message", good_words ? words->get_string() : json::string()}};
  std::string text = json::serialize(shaped);
  if (has_data) {
    text = with_member(text, "data", data);
    shaped["data"] = error.at("data");
  }
  message.text = with_member(message.text, "error", text);
  error = std::move(shaped);
}

}  // namespace

Result<Message> Message::read(std::string text, const JsonLimits& limits) {
  SALLYPORT_TRY(ParsedJson parsed, parse_part(text, limits));
  Message message{.text = std::move(text), .value = std::move(parsed.value)};
  message.exact = parsed.exact;
  message.values = parsed.values;
  if (!message.value.is_object()) return no_message("a message is an object");
  const json::object& object = message.object();
  if (text_in(object, "jsonrpc") != "2.0") return no_message("`jsonrpc` is not \"2.0\"");
  const json::value* const id = object.if_contains("id");
  if (id != nullptr && is_id(*id)) message.id = id_text(*id);
  if (const json::value* const method = object.if_contains("method")) {
    if (!method->is_string()) return no_message("`method` is not a text");
    if (id != nullptr && message.id.empty())
      return no_message("`id` is neither a text nor an integer of 64 bits");
    message.method = std::string(method->get_string());
    if (!is_method(message.method)) return no_message("`method` is not a name of a method");
    const json::value* const params = object.if_contains("params");
    if (params != nullptr && !params->is_object() && !params->is_null()) {
      return no_message("`params` is not an object");
    }
    message.kind = id == nullptr ? Kind::Notification : Kind::Request;
    drop_foreign_members(message);
    return message;
  }
  if (object.contains("result") == object.contains("error")) {
    return no_message("neither `method` nor exactly one of `result` and `error`");
  }
  if (object.contains("error") && !object.at("error").is_object()) {
    return no_message("`error` is not an object");
  }
  message.kind = Kind::Response;
  drop_foreign_members(message);
  if (message.is_error()) shape_error(message);
  return message;
}

Message Message::make_notification(std::string_view method) {
  Message message{.text = notification_text(method, {}), .method = std::string(method)};
  message.value = json::object{{"jsonrpc", "2.0"}, {"method", method}};
  message.values = values_in(message.value);
  return message;
}

Result<Message> Message::make_request(std::string_view method, std::string_view params,
                                      const JsonLimits& limits) {
  if (!is_method(method)) return no_message("`method` is not a name of a method");
  Message message{.kind = Kind::Request,
                  .text = request_text(kOwnId, method, params),
                  .id = std::string(kOwnId),
                  .method = std::string(method)};
  message.value = json::object{{"jsonrpc", "2.0"}, {"id", 0}, {"method", method}};
  message.values = values_in(message.value);
  if (params.empty()) return message;
  SALLYPORT_CHECK_OK(set_member(message, "params", params, message.text, limits));
  return message;
}

Result<Message> Message::make_answer(std::string_view given, const JsonLimits& limits) {
  Message message{
      .kind = Kind::Response, .text = mcp::result_text(kOwnId, given), .id = std::string(kOwnId)};
  message.value = json::object{{"jsonrpc", "2.0"}, {"id", 0}};
  message.values = values_in(message.value);
  SALLYPORT_CHECK_OK(set_member(message, "result", given, message.text, limits));
  return message;
}

Result<void> Message::replace(std::string_view member, std::string_view changed,
                              const JsonLimits& limits) {
  return set_member(*this, member, changed, with_member(text, member, changed), limits);
}

std::size_t Message::weight() const {
  constexpr std::size_t kCopies = 2;  // that stay while it waits
  constexpr std::size_t kValue = 128;
  return kCopies * text.size() + kValue * values;
}

const json::object* Message::params() const {
  return object_in(object(), "params");
}

const json::object* Message::meta() const {
  const json::object* const given = params();
  return given ? object_in(*given, "_meta") : nullptr;
}

bool Message::is_modern() const {
  const json::object* const named = meta();
  return method == "server/discover" || (named && named->contains(kMetaVersion));
}

std::string_view Message::params_text() const {
  return find(text, {"params"}).value_or(std::string_view());
}

std::string_view Message::result_text() const {
  return find(text, {"result"}).value_or(std::string_view());
}

std::string_view Message::error_text() const {
  return find(text, {"error"}).value_or(std::string_view());
}

std::string Message::with_id(std::string_view id) const {
  return with_member(text, "id", id);
}

std::string id_text(const json::value& id) {
  std::string text;
  append_exact_json(text, id);
  return text;
}

bool is_batch(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '[';
}

std::vector<std::string> batch_messages(std::string_view text, const JsonLimits& limits) {
  constexpr std::size_t kMost = 256;
  if (!is_batch(text) || !parse_json(text, limits)) return {};
  const std::vector<std::string_view> messages = elements(text);
  if (messages.size() > kMost) return {};
  return {messages.begin(), messages.end()};
}

std::string id_in_malformed(std::string_view beginning, std::string_view end) {
  std::optional<std::string_view> id = find(beginning, {"id"});
  if (!id) {
    // Many write the id last.
    const std::size_t at = end.rfind("\"id\"");
    if (at == std::string_view::npos) return {};
    const std::string object = '{' + std::string(end.substr(at));
    id = find(object, {"id"});
    if (!id) return {};
    const Result<ParsedJson> read = parse_json(*id);
    return read && is_id(read->value) ? id_text(read->value) : std::string();
  }
  const Result<ParsedJson> read = parse_json(*id);
  return read && is_id(read->value) ? id_text(read->value) : std::string();
}

std::string awaited_id(std::string_view text) {
  constexpr std::size_t kMostMembers = 1000;  // of a text that may be anything
  const std::vector<std::string_view> ids = values_named("id", text, kMostMembers);
  if (ids.size() != 1) return {};  // with two ids it is unknown which one counts
  if (values_named("method", text, kMostMembers).empty()) return {};
  const Result<ParsedJson> id = parse_json(ids.front());
  return id && is_id(id->value) ? id_text(id->value) : std::string();
}

std::string request_text(std::string_view id, std::string_view method, std::string_view params) {
  std::string out =
      R"({"jsonrpc":"2.0","id":)" + std::string(id) + ",\"method\":" + json_quoted(method);
  if (!params.empty()) out += ",\"params\":" + std::string(params);
  return out + '}';
}

std::string notification_text(std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0","method":)" + json_quoted(method);
  if (!params.empty()) out += ",\"params\":" + std::string(params);
  return out + '}';
}

std::string cancelled_text(std::uint64_t id, std::string_view reason) {
  std::string params = "{\"requestId\":" + std::to_string(id);
  if (!reason.empty()) params += ",\"reason\":" + std::string(reason);
  return notification_text("notifications/cancelled", params + '}');
}

std::string result_text(std::string_view id, std::string_view result) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + ",\"result\":" + std::string(result) + '}';
}

std::string error_text(std::string_view id, std::int64_t code, std::string_view message,
                       const json::value& data) {
  json::object error{{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = data;
  return R"({"jsonrpc":"2.0","id":)" + std::string(id.empty() ? "null" : id) +
         ",\"error\":" + json::serialize(error) + '}';
}

namespace {
bool is_request_error(const Error& why) {
  return why.cause == "request" || why.cause == kOverLimit;
}
}  // namespace

std::string unreadable_text(std::string_view request, const Error& why) {
  return error_text(
      awaited_id(request), is_request_error(why) ? kInvalidRequest : kParseError,
      why.cause == kOverLimit ? "the message is too large: " + why.message : why.message);
}

std::string too_long_text(std::string_view beginning, std::string_view end, std::size_t most) {
  return error_text(id_in_malformed(beginning, end), kInvalidRequest,
                    fmt::format("the message is over {} bytes", most));
}

bool is_governed(std::string_view method) {
  return method == "tools/call" || method == "resources/read" || method == "prompts/get" ||
         method == "completion/complete" || method == "tasks/result" || method == "tasks/get";
}

std::string_view subject_member(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") {
    return "taskId";
  }
  return {};
}

std::string cancelled_id(const Message& notification) {
  const json::object* const params = notification.params();
  const json::value* const id = params ? params->if_contains("requestId") : nullptr;
  return id ? id_text(*id) : std::string();
}

}  // namespace sallyport::mcp
