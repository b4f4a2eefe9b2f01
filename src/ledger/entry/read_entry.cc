#include <fmt/format.h>
#include <simdjson.h>

#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/try.h"
#include "ledger/entry/entry.h"
#include "ledger/entry/entry_reader.h"

namespace sallyport::ledger {

namespace {

bool is_commitment(const json::value& value) {
  constexpr std::string_view kPrefix = "sha256:";
  const json::object* const object = value.if_object();
  if (object == nullptr || object->size() != 1) return false;
  const json::value* const digest = object->if_contains("$sealed");
  if (digest == nullptr || !digest->is_string()) return false;
  const std::string_view text = digest->get_string();
  return text.starts_with(kPrefix) && text.size() == kPrefix.size() + 64 &&
         from_hex(text.substr(kPrefix.size()));
}

void mark_sealed(json::value& value) {
  if (is_commitment(value)) {
    value.get_object()["state"] = "sealed";
  } else if (json::object* const object = value.if_object()) {
    for (json::key_value_pair& member : *object) mark_sealed(member.value());
  } else if (json::array* const array = value.if_array()) {
    for (json::value& item : *array) mark_sealed(item);
  }
}

// The value that the body repeats. The body has `outcome` with its details around it.
const json::value* repeated(const json::object& body, std::string_view name) {
  const json::value* const value = body.if_contains(name);
  if (value == nullptr || name != "outcome" || !value->is_object()) return value;
  return value->get_object().if_contains("kind");
}

}  // namespace

Result<EntryView> view_entry(std::string_view bytes) {
  thread_local simdjson::ondemand::parser parser;
  thread_local std::string padded;
  padded.assign(bytes);
  padded.append(simdjson::SIMDJSON_PADDING, '\0');
  EntryView view;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (parser.iterate(padded.data(), bytes.size(), padded.size()).get(document) ||
      document.get_object().get(object)) {
    return fail(ErrorCode::Corrupt, "an entry is not a JSON object");
  }
  const auto text_target = [&view](std::string_view name) -> std::string* {
    if (name == "id") return &view.id;
    if (name == "kind") return &view.kind;
    if (name == "recorded_at") return &view.recorded_at;
    if (name == "instance_id") return &view.instance_id;
    if (name == "policy_hash") return &view.policy_hash;
    if (name == "call_id") return &view.call_id;
    if (name == "session_id") return &view.session_id;
    if (name == "agent_id") return &view.agent_id;
    if (name == "server") return &view.server;
    if (name == "tool_name") return &view.tool_name;
    if (name == "outcome") return &view.outcome;
    if (name == "trace_id") return &view.trace_id;
    if (name == "run_id") return &view.run_id;
    if (name == "topic") return &view.topic;
    return nullptr;
  };
  for (auto field : object) {
    std::string_view name;
    if (field.unescaped_key().get(name)) return fail(ErrorCode::Corrupt, "an entry is cut off");
    simdjson::error_code code = simdjson::SUCCESS;
    if (std::string* const target = text_target(name)) {
      std::string_view text;
      code = field.value().get_string().get(text);
      target->assign(text);
    } else if (name == "sequence") {
      code = field.value().get_uint64().get(view.sequence);
    } else if (name == "topic_id") {
      code = field.value().get_uint64().get(view.topic_id);
    }
    if (code) return fail(ErrorCode::Corrupt, "a member has the wrong type", std::string(name));
  }
  return view;
}

Result<void> check_entry(const json::value& entry) {
  thread_local EntryReader reader;
  return reader.read(canonical_json(entry));
}

Result<void> check_meaning(const json::value& entry) {
  const json::object& object = entry.get_object();
  const json::object& body = object.at("body").get_object();
  for (const std::string_view name :
       {"policy_hash", "call_id", "session_id", "agent_id", "server", "tool_name", "outcome",
        "trace_id", "run_id", "topic", "topic_id", "instance_id", "sequence"}) {
    const json::value* const inner = repeated(body, name);
    const json::value* const outer = object.if_contains(name);
    // Only equal kinds of values are compared: some bodies use these names for a richer value.
    if (inner == nullptr || outer == nullptr || inner->kind() != outer->kind()) continue;
    if (*inner != *outer) {
      return fail(ErrorCode::Corrupt, fmt::format("`{}` of the entry and of its body differ", name),
                  std::string(name));
    }
  }
  return {};
}

json::value opened_body(const json::value& entry, const std::vector<Opening>& openings,
                        Numbers numbers) {
  json::value copy = entry;
  mark_sealed(copy.get_object()["body"]);
  for (const Opening& opening : openings) {
    boost::system::error_code code;
    json::value* const field = copy.find_pointer(opening.path, code);
    if (field == nullptr) continue;
    if (opening.state != OpeningState::Open) {
      if (json::object* const object = field->if_object()) {
        (*object)["state"] = state_name(opening.state);
      }
      continue;
    }
    Result<ParsedJson> value =
        parse_json(opening.value, {.bytes = 1u << 30, .numbers = numbers, .values = 1u << 30});
    if (value) {
      *field = std::move(value->value);
    } else {
      *field = json::object{{"raw", base64(as_bytes(opening.value))}};
    }
  }
  return std::move(copy.get_object()["body"]);
}

}  // namespace sallyport::ledger
