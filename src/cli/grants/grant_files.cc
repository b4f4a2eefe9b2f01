#include "cli/grants/grant_files.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/config/config.h"
#include "app/terminal/input.h"
#include "autonomy/classifier.h"
#include "base/json_members.h"
#include "base/try.h"
#include "grants/token.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostBytes = 1u << 20;

// What is wrong with a file is an answer about it, not about how the command was called (CG-70).
std::unexpected<Error> refused(Error error) {
  if (error.code == ErrorCode::InvalidInput) error.code = ErrorCode::Conflict;
  return std::unexpected(std::move(error));
}

Result<std::string> content_of(const std::filesystem::path& file) {
  Result<std::string> content = read_input(file, kMostBytes + 1);
  if (!content) return refused(std::move(content).error());
  if (content->size() > kMostBytes) {
    return fail(ErrorCode::Conflict, fmt::format("this is over {} bytes", kMostBytes),
                file.string());
  }
  return content;
}

Result<json::value> json_in(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string content, content_of(file));
  Result<ParsedJson> parsed = parse_json(content);
  if (parsed) return std::move(parsed->value);
  Error error = std::move(parsed).error();
  error.where = fmt::format("{}:{}", file.string(), error.where);
  return refused(std::move(error));
}

// As a policy that says nothing of the tool has it.
std::string known_class(const Call& call) {
  return autonomy::Classifier().classify({.server = call.server, .tool = call.tool}).effect_class;
}

}  // namespace

Result<std::string> read_token_text(const std::string& token) {
  if (trimmed(token).starts_with('{')) return std::string(trimmed(token));
  SALLYPORT_TRY(const std::string content, content_of(token));
  return std::string(trimmed(content));
}

Result<json::array> read_grants(const std::filesystem::path& file) {
  SALLYPORT_TRY(json::value value, json_in(file));
  if (value.is_array()) return std::move(value.get_array());
  if (const json::object* const object = value.if_object()) {
    const json::value* const grants = object->if_contains("grants");
    if (grants == nullptr) return json::array{value};
    if (object->size() == 1 && grants->is_array()) return grants->get_array();
  }
  return fail(ErrorCode::Conflict, "this is not a grant, a list of grants or {\"grants\":[...]}",
              file.string());
}

Result<grants::Signer> read_holder_key(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string content, content_of(file));
  Result<grants::Signer> signer = grants::Signer::parse(content);
  if (!signer) return fail(ErrorCode::Conflict, signer.error().message, file.string());
  return signer;
}

Result<CallFile> read_call(const std::filesystem::path& file) {
  SALLYPORT_TRY(const json::value value, json_in(file));
  const json::object* const object = value.if_object();
  const auto member = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const std::optional<std::string_view> text = object ? text_in(*object, name) : std::nullopt;
      if (text) return std::string(*text);
    }
    return std::string();
  };
  CallFile read{.call = {.agent_id = member({"agent_id", "principal", "agent"}),
                         .server = member({"server"}),
                         .tool = member({"tool", "tool_name"})},
                .effect_class = member({"effect_class", "class"})};
  if (read.call.tool.empty()) {
    return fail(ErrorCode::Conflict, "a call names its `tool`", file.string());
  }
  const json::value* const input = object->if_contains("input");
  read.call.input = input ? *input : json::value(json::object());
  read.names_principal = !read.call.agent_id.empty();
  if (read.effect_class.empty()) read.effect_class = known_class(read.call);
  return read;
}

Result<std::chrono::seconds> lifetime_from(const std::optional<std::string>& text) {
  constexpr std::chrono::seconds kUsual = std::chrono::hours(1);
  constexpr std::chrono::seconds kMost = std::chrono::days(30);
  const std::optional<std::chrono::seconds> lifetime = text ? parse_duration(*text) : kUsual;
  if (!lifetime || lifetime->count() < 1 || *lifetime > kMost) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("--ttl is `{}`; write 1s to 30d, as in 90s, 15m, 8h or 7d", *text));
  }
  return *lifetime;
}

std::string time_text(std::uint64_t second) {
  constexpr std::uint64_t kLast = 253402300799;
  return rfc3339(WallTime(std::chrono::seconds(std::min(second, kLast)))).substr(0, 19) + "Z";
}

Result<void> check_subject_key(const std::optional<std::string>& key) {
  if (!key || grants::is_key(*key)) return {};
  return fail(
      ErrorCode::InvalidInput,
      fmt::format("--subject-key is `{}`; write ed25519: and 64 lower-case hex digits", *key));
}

}  // namespace sallyport::app
