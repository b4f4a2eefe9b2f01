#include "cli/grants/grant_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <initializer_list>
#include <vector>

#include "autonomy/classifier.h"
#include "base/json_pointer.h"
#include "base/try.h"
#include "grants/token.h"
#include "llm/json_splice.h"
#include "terminal/input.h"
#include "workbench/asked_call.h"
#include "workspace/config/config.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostBytes = 1u << 20;

// An error in a file is a refusal, not a usage error (CG-70).
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

struct JsonFile {
  std::string text;
  ParsedJson parsed;
};

Result<JsonFile> json_in(const std::filesystem::path& file) {
  SALLYPORT_TRY(std::string content, content_of(file));
  Result<ParsedJson> parsed = parse_json(content);
  if (parsed) return JsonFile{std::move(content), std::move(*parsed)};
  Error error = std::move(parsed).error();
  error.where = fmt::format("{}:{}", file.string(), error.where);
  return refused(std::move(error));
}

bool is_inexact(std::string_view text) {
  const Result<ParsedJson> parsed = parse_json(text);
  return parsed && !parsed->exact;
}

std::vector<std::string> pointers_in(const json::value& value) {
  std::vector<std::string> pointers;
  if (const json::object* const object = value.if_object()) {
    for (const json::key_value_pair& member : *object) {
      pointers.push_back(pointer_to("", member.key()));
    }
  } else if (const json::array* const items = value.if_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) pointers.push_back(pointer_to("", i));
  }
  return pointers;
}

// The place of the first number that a double cannot hold; `text` has one.
std::string inexact_place(std::string_view text) {
  const Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) return {};
  for (const std::string& pointer : pointers_in(parsed->value)) {
    const std::string_view inner = llm::value_at(text, pointer);
    if (is_inexact(inner)) return pointer + inexact_place(inner);
  }
  return {};
}

// A token is signed over its canonical form, which would say another number (LE-9).
Result<void> check_exact(const JsonFile& read, const std::filesystem::path& file) {
  if (read.parsed.exact) return {};
  return fail(ErrorCode::Conflict,
              fmt::format("the number at `{}` would be rounded; write it with fewer digits",
                          inexact_place(read.text)),
              file.string());
}

// The first of these members that is there. Null is a member that is left out.
Result<std::string> text_member(const json::object& call, std::initializer_list<const char*> names,
                                const std::filesystem::path& file) {
  for (const char* const name : names) {
    const json::value* const member = call.if_contains(name);
    if (member == nullptr || member->is_null()) continue;
    if (member->is_string()) return std::string(member->get_string());
    return fail(ErrorCode::Conflict, fmt::format("`{}` is not a text", name), file.string());
  }
  return std::string();
}

// The effect class without a policy.
std::string known_class(const Call& call) {
  return autonomy::Classifier().classify({.server = call.server, .tool = call.tool}).effect_class;
}

// A misspelled member would be checked as an absent one. Members that only `policy explain` uses are
// permitted.
Result<void> check_call_members(const json::object& call, const std::filesystem::path& file) {
  constexpr std::string_view kKnown[] = {"agent_id",     "principal", "agent",      "server",
                                         "tool",         "tool_name", "session",    "input",
                                         "effect_class", "class",     "session_id", "front",
                                         "interactive",  "cwd",       "workspace"};
  for (const auto& member : call) {
    const std::string_view name = member.key();
    if (std::ranges::find(kKnown, name) != std::end(kKnown)) continue;
    return fail(ErrorCode::Conflict,
                fmt::format("unknown member `{:.80}`; a call has tool, server, input, agent and "
                            "effect_class",
                            name),
                file.string());
  }
  return {};
}

}  // namespace

Result<std::string> read_token_text(const std::string& token) {
  if (trimmed(token).starts_with('{')) return std::string(trimmed(token));
  SALLYPORT_TRY(const std::string content, content_of(token));
  // Without a token a call would be judged as if none restricted it.
  if (trimmed(content).empty()) return fail(ErrorCode::Conflict, "there is no token in it", token);
  return std::string(trimmed(content));
}

Result<json::array> read_grants(const std::filesystem::path& file) {
  SALLYPORT_TRY(JsonFile read, json_in(file));
  SALLYPORT_CHECK_OK(check_exact(read, file));
  json::value& value = read.parsed.value;
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
  SALLYPORT_TRY(const JsonFile found, json_in(file));
  const json::object* const object = found.parsed.value.if_object();
  if (object == nullptr) return fail(ErrorCode::Conflict, "a call is an object", file.string());
  SALLYPORT_CHECK_OK(check_call_members(*object, file));
  CallFile read;
  SALLYPORT_TRY(read.call.agent_id, text_member(*object, {"agent_id", "principal", "agent"}, file));
  SALLYPORT_TRY(read.call.server, text_member(*object, {"server"}, file));
  SALLYPORT_TRY(read.call.tool, text_member(*object, {"tool", "tool_name"}, file));
  SALLYPORT_TRY(read.effect_class, text_member(*object, {"effect_class", "class"}, file));
  if (read.call.tool.empty()) {
    return fail(ErrorCode::Conflict, "a call names its `tool`", file.string());
  }
  const json::value* const input = object->if_contains("input");
  read.call.input = input ? *input : json::value(json::object());
  read.call.raw_input = inexact_input(found.text);
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
  if (!key || grants::is_signing_key(*key)) return {};
  if (grants::is_key(*key)) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("--subject-key is `{}`, which is not a public key; nothing that it signs "
                    "is accepted",
                    *key));
  }
  return fail(
      ErrorCode::InvalidInput,
      fmt::format("--subject-key is `{}`; write ed25519: and 64 lower-case hex digits", *key));
}

}  // namespace sallyport::app
