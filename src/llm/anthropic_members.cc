// Members of events and blocks of Anthropic that we do not know (MP-9, MP-44).
#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "llm/anthropic_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

// Plain members contain no objects or arrays. The strings below `words` are names of the API. The
// others are checked where they are used.
struct Shape {
  std::string_view type;
  std::vector<std::string_view> plain;
  std::vector<std::string_view> others;
  std::vector<std::string_view> words{};
};

const Shape& event_shape(std::string_view type) {
  static const std::vector<Shape> kShapes{
      {"message_start", {"type"}, {"message"}},
      {"content_block_start", {"type", "index"}, {"content_block"}},
      {"content_block_delta", {"type", "index"}, {"delta"}},
      {"content_block_stop", {"type", "index"}, {}},
      {"message_delta", {"type"}, {"delta"}, {"usage", "context_management"}}};
  static const Shape kOther{"", {"type"}, {}};  // `ping` and `message_stop`
  const auto found = std::ranges::find(kShapes, type, &Shape::type);
  return found == kShapes.end() ? kOther : *found;
}

const Shape& message_shape() {
  static const Shape kShape{"",
                            {"id", "type", "role", "model", "stop_reason", "stop_sequence"},
                            {"content", "stop_details"},
                            {"usage", "container", "context_management"}};
  return kShape;
}

const Shape& message_delta_shape() {
  static const Shape kShape{"", {"stop_reason", "stop_sequence"}, {"stop_details"}, {"container"}};
  return kShape;
}

// `explanation` is checked at the end of a message.
const Shape& stop_details_shape(bool at_end) {
  static const Shape kShape{"", {"type", "category"}, {}};
  static const Shape kAtEnd{"", {"type", "category", "explanation"}, {}};
  return at_end ? kAtEnd : kShape;
}

const Shape* block_shape(std::string_view type) {
  static const std::vector<Shape> kShapes{
      {"text", {"type", "text"}, {"citations"}},
      {"thinking", {"type", "thinking", "signature"}, {}},
      {"redacted_thinking", {"type", "data"}, {}},
      {"compaction", {"type", "content", "encrypted_content", "signature"}, {}},
      {"tool_use", {"type", "id", "name", "toolset_name"}, {"input"}, {"caller"}},
      {"server_tool_use", {"type", "id", "name"}, {"input"}, {"caller"}},
      {"mcp_tool_use", {"type", "id", "name", "server_name"}, {"input"}}};
  const auto found = std::ranges::find(kShapes, type, &Shape::type);
  return found == kShapes.end() ? nullptr : &*found;
}

const Shape* delta_shape(std::string_view type) {
  static const std::vector<Shape> kShapes{
      {"text_delta", {"type", "text"}, {}},
      {"citations_delta", {"type"}, {"citation"}},
      {"input_json_delta", {"type", "partial_json"}, {}},
      {"thinking_delta", {"type", "thinking"}, {}},
      {"signature_delta", {"type", "signature"}, {}},
      {"compaction_delta", {"type", "content", "encrypted_content"}, {}}};
  const auto found = std::ranges::find(kShapes, type, &Shape::type);
  return found == kShapes.end() ? nullptr : &*found;
}

// True if every string of a value is in a member that holds a name of the API.
bool has_words_only(const json::value& value) {
  static constexpr std::array<std::string_view, 10> kNames{
      "type",  "id",         "service_tier", "inference_geo", "speed",
      "model", "expires_at", "skill_id",     "version",       "tool_id"};
  if (const json::array* const list = value.if_array()) {
    return std::ranges::all_of(*list, has_words_only);
  }
  if (const json::object* const members = value.if_object()) {
    return std::ranges::all_of(*members, [](const auto& member) {
      const bool word = member.value().is_string() &&
                        std::ranges::find(kNames, std::string_view(member.key())) != kNames.end();
      return word || has_words_only(member.value());
    });
  }
  return !value.is_string();
}

bool fits(const Shape& shape, std::string_view name, const json::value& value) {
  if (std::ranges::find(shape.others, name) != shape.others.end()) return !value.is_string();
  if (std::ranges::find(shape.words, name) != shape.words.end()) return has_words_only(value);
  return std::ranges::find(shape.plain, name) != shape.plain.end() && !value.is_structured();
}

}  // namespace

std::optional<AnthropicAdapter::UnknownHit> AnthropicAdapter::look_at_members(
    std::string_view event_type, const json::value& value) {
  std::optional<UnknownHit> hit;
  const auto look = [&](const json::value* object, const std::string& pointer, const Shape* shape) {
    if (object == nullptr || !object->is_object() || shape == nullptr) return;
    for (const auto& [name, member] : object->get_object()) {
      if (fits(*shape, name, member)) continue;
      const std::string at = pointer_to(pointer, std::string_view(name));
      if (hit) {
        hit->pointers.push_back(at);  // nothing was looked at behind the hit
        continue;
      }
      door_->note_unknown(std::string(name));
      CheckedLeaves checked =
          check_leaves(*door_, {.kind = ChannelKind::Whole}, member, "", Leaves::Unknown);
      if (checked.block) hit = UnknownHit{{at}, std::move(*checked.block)};
    }
  };
  if (event_type.empty()) {  // a whole body
    look(&value, "", &message_shape());
    return hit;
  }
  const json::value* const delta = member_of(value, "delta");
  look(&value, "", &event_shape(event_type));
  if (event_type == "message_start") {
    const json::value& message = value.at("message");
    look(&message, "/message", &message_shape());
    look(member_of(message, "stop_details"), "/message/stop_details", &stop_details_shape(false));
  } else if (event_type == "message_delta" && delta != nullptr) {
    look(delta, "/delta", &message_delta_shape());
    look(member_of(*delta, "stop_details"), "/delta/stop_details", &stop_details_shape(true));
  } else if (event_type == "content_block_start") {
    const json::value* const block = member_of(value, "content_block");
    if (block != nullptr) look(block, "/content_block", block_shape(text_in(*block, "type")));
  } else if (event_type == "content_block_delta" && delta != nullptr) {
    look(delta, "/delta", delta_shape(text_in(*delta, "type")));
  }
  return hit;
}

bool AnthropicAdapter::is_well_formed(const json::value& delta) {
  const std::string_view type = text_in(delta, "type");
  const Shape* const shape = delta_shape(type);
  if (shape == nullptr || shape->plain.size() < 2) return true;
  const json::value* const carried = member_of(delta, shape->plain[1]);
  return carried != nullptr &&
         (carried->is_string() || (type == "compaction_delta" && carried->is_null()));
}

}  // namespace sallyport::llm
