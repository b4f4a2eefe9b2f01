#include "agent/model/script.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "config/mapping.h"
#include "config/yaml.h"
#include "config/yaml_json.h"

namespace sallyport::agent {

namespace {

using config::Mapping;

constexpr std::size_t kLongestText = 1u << 20;
constexpr std::size_t kLongestWord = 256;
constexpr std::size_t kMostScriptCalls = 256;
constexpr std::size_t kMostTurns = 100'000;
constexpr std::uint64_t kLongestWait = 3'600'000;
constexpr std::uint64_t kMost = 9'007'199'254'740'991;

config::ReadValue read_time(std::chrono::milliseconds& out) {
  return config::read_number(
      0, kLongestWait, [&out](std::uint64_t number) { out = std::chrono::milliseconds(number); });
}

config::ReadValue read_count(std::optional<std::uint64_t>& out) {
  return config::read_number(0, kMost, [&out](std::uint64_t number) { out = number; });
}

Mapping& text_key(Mapping& keys, std::string name, std::string about, std::string& out) {
  return keys.optional(std::move(name), std::move(about), config::text_schema(kLongestText),
                       config::read_text(out, kLongestText));
}

Mapping& time_key(Mapping& keys, std::string name, std::string about,
                  std::chrono::milliseconds& out) {
  return keys.optional(std::move(name), std::move(about), config::number_schema(0, kLongestWait),
                       read_time(out));
}

Result<void> read_call(const config::Place& place, ScriptTurn& turn) {
  ScriptCall call;
  bool given = false;
  Mapping keys("a tool call");
  keys.required("tool", "its name", config::text_schema(kLongestWord),
                config::read_text(call.tool, kLongestWord));
  keys.optional("id", "of the call", config::text_schema(kLongestWord),
                config::read_text(call.id, kLongestWord));
  keys.optional("input", "its arguments", {{"type", "object"}},
                [&](const config::Place& at) -> Result<void> {
                  SALLYPORT_TRY(const json::value input, config::to_json(at.node, at.file));
                  if (!input.is_object()) return at.refuse("the input of a tool is an object");
                  if (given) return at.refuse("a call has `input` or `arguments`, not both");
                  given = true;
                  call.arguments = json::serialize(input);
                  return {};
                });
  keys.optional("arguments", "the text of its arguments, JSON or not",
                config::text_schema(kLongestText), [&](const config::Place& at) -> Result<void> {
                  if (given) return at.refuse("a call has `input` or `arguments`, not both");
                  given = true;
                  return config::read_word(call.arguments, kLongestText)(at);
                });
  SALLYPORT_CHECK_OK(keys.read(place));
  if (!given) call.arguments = "{}";
  for (const ScriptCall& other : turn.calls) {
    if (!call.id.empty() && other.id == call.id) {
      return place.refuse("two calls of a turn have the same id");
    }
  }
  turn.calls.push_back(std::move(call));
  return {};
}

Result<void> read_usage(const config::Place& place, Usage& usage) {
  Mapping keys("tokens");
  const auto key = [&](const char* name, std::optional<std::uint64_t>& out) {
    keys.optional(name, "how many", config::number_schema(0, kMost), read_count(out));
  };
  key("input_tokens", usage.input_tokens);
  key("output_tokens", usage.output_tokens);
  key("total_tokens", usage.total_tokens);
  key("cache_read_input_tokens", usage.cache_read_input_tokens);
  key("cache_creation_input_tokens", usage.cache_creation_input_tokens);
  key("reasoning_tokens", usage.reasoning_tokens);
  return keys.read(place);
}

// `{status: 503, body: overloaded, retry_after_ms: 1000}`, or `{kind: transport, message: ...}`.
Result<void> read_fault(const config::Place& place, ProviderError& error, std::uint64_t* times) {
  using Kind = ProviderError::Kind;
  static const std::vector<std::string> kWords{
      "transport",       "decode",           "serialize",        "deserialize",
      "invalid_request", "invalid_response", "malformed_stream", "unsupported_capability",
      "retryable"};
  std::optional<Kind> kind;
  std::optional<std::uint64_t> status;
  Mapping keys("a fault");
  keys.optional("kind", "of the error", config::choice_schema(kWords),
                config::read_choice(kWords, [&](std::size_t i) { kind = static_cast<Kind>(i); }));
  keys.optional("status", "of an HTTP response", config::number_schema(300, 599),
                config::read_number(300, 599, [&](std::uint64_t number) { status = number; }));
  text_key(keys, "message", "of the error", error.message);
  text_key(keys, "body", "of the HTTP response", error.body);
  keys.optional("retry_after_ms", "what the HTTP response asks for",
                config::number_schema(0, kMost), read_count(error.retry_after_ms));
  keys.optional("delay_ms", "what `retryable` asks for", config::number_schema(0, kMost),
                read_count(error.delay_ms));
  if (times != nullptr) {
    keys.optional("times", "how many attempts meet it [all]", config::number_schema(1, kMost),
                  config::read_number(1, kMost, [&](std::uint64_t number) { *times = number; }));
  }
  SALLYPORT_CHECK_OK(keys.read(place));
  if (kind.has_value() == status.has_value()) {
    return place.refuse("a fault has either `kind` or `status`");
  }
  error.kind = status ? Kind::Http : *kind;
  error.status = status.value_or(0);
  const bool http = error.kind == Kind::Http;
  if (http ? !error.message.empty() : !error.body.empty() || error.retry_after_ms) {
    return place.refuse("`body` and `retry_after_ms` belong to `status`, `message` to `kind`");
  }
  if (error.delay_ms && error.kind != Kind::Retryable) {
    return place.refuse("`delay_ms` belongs to `kind: retryable`");
  }
  if (!http && error.message.empty()) error.message = "a fault of the script";
  return {};
}

// `name` names the turn in messages, because an empty turn has no place in the file.
Result<void> read_turn(const config::Place& place, ScriptTurn& turn, const std::string& name) {
  Mapping keys("one answer of the model");
  text_key(keys, "text", "what it says", turn.text);
  keys.optional("calls", "tools that it calls", {{"type", "array"}},
                config::read_list(kMostScriptCalls,
                                  [&](const config::Place& at) { return read_call(at, turn); }));
  keys.optional("usage", "tokens that it reports", {{"type", "object"}},
                [&](const config::Place& at) { return read_usage(at, turn.usage.emplace()); });
  keys.optional("stop", "why it ends", config::text_schema(kLongestWord),
                config::read_text(turn.stop, kLongestWord));
  text_key(keys, "expect", "a text that the messages since the last answer must contain",
           turn.expect);
  keys.optional("error", "it does not open", {{"type", "object"}},
                [&](const config::Place& at) -> Result<void> {
                  ScriptFault& fault = turn.error.emplace();
                  return read_fault(at, fault.error, &fault.times);
                });
  keys.optional("error_mid_stream", "it breaks after its content", {{"type", "object"}},
                [&](const config::Place& at) -> Result<void> {
                  SALLYPORT_CHECK_OK(read_fault(at, turn.breaks.emplace(), nullptr));
                  if (turn.breaks->kind != ProviderError::Kind::Http) return {};
                  return at.refuse("a stream that was opened has no HTTP status; use `kind`");
                });
  time_key(keys, "delay_ms", "before it opens", turn.delay);
  keys.optional(
      "chunk", "bytes of a piece", config::number_schema(1, kLongestText),
      config::read_number(1, kLongestText, [&](std::uint64_t number) { turn.chunk = number; }));
  time_key(keys, "pause_ms", "between two pieces", turn.pause);
  SALLYPORT_CHECK_OK(keys.read(place));
  const bool has_content =
      !turn.text.empty() || !turn.calls.empty() || turn.error || turn.breaks || !turn.stop.empty();
  if (has_content) return {};
  return place.refuse(
      fmt::format("{} is empty; give it `text`, `calls`, `stop` or an error", name));
}

}  // namespace

Result<Script> parse_script(const std::string& text, const std::string& file) {
  SALLYPORT_TRY(const config::YamlNode root, config::parse_yaml(text, file));
  Script script;
  Mapping keys("a script of model answers");
  keys.required("turns", "answers in their order", {{"type", "array"}},
                config::read_list(kMostTurns, [&](const config::Place& place) {
                  ScriptTurn& turn = script.turns.emplace_back();
                  return read_turn(place, turn, fmt::format("turn {}", script.turns.size()));
                }));
  keys.optional("summary", "answers the request for a summary", config::text_schema(kLongestText),
                [&](const config::Place& place) -> Result<void> {
                  if (place.node.kind == config::YamlNode::Kind::Mapping) {
                    return read_turn(place, script.summary, "`summary`");
                  }
                  return config::read_text(script.summary.text, kLongestText)(place);
                });
  SALLYPORT_CHECK_OK(keys.read({root, file}));
  if (script.turns.empty())
    return config::Place{root, file}.refuse("`turns` lists at least one turn");
  return script;
}

}  // namespace sallyport::agent
