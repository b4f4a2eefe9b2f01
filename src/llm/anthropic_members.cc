// Members of events and blocks of Anthropic that we do not know (MP-9, MP-44).
#include <algorithm>
#include <boost/json.hpp>

#include "llm/anthropic_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

// Plain members hold no objects or arrays; the others are looked at where they are used, or hold
// nothing but numbers and names of the API.
struct Shape {
  std::string_view type;
  std::vector<std::string_view> plain;
  std::vector<std::string_view> others;
};

const Shape& event_shape() {
  static const Shape kShape{
      "", {"type", "index"}, {"content_block", "delta", "message", "usage", "context_management"}};
  return kShape;
}

const Shape& message_shape() {
  static const Shape kShape{
      "",
      {"id", "type", "role", "model", "stop_reason", "stop_sequence"},
      {"content", "stop_details", "usage", "container", "context_management"}};
  return kShape;
}

const Shape& message_delta_shape() {
  static const Shape kShape{"", {"stop_reason", "stop_sequence"}, {"stop_details", "container"}};
  return kShape;
}

const Shape* block_shape(std::string_view type) {
  static const std::vector<Shape> kShapes{
      {"text", {"type", "text"}, {"citations"}},
      {"thinking", {"type", "thinking", "signature"}, {}},
      {"redacted_thinking", {"type", "data"}, {}},
      {"compaction", {"type", "content", "encrypted_content", "signature"}, {}},
      {"tool_use", {"type", "id", "name", "toolset_name"}, {"input", "caller"}},
      {"server_tool_use", {"type", "id", "name"}, {"input", "caller"}},
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

bool fits(const Shape& shape, std::string_view name, const json::value& value) {
  if (std::ranges::find(shape.others, name) != shape.others.end()) return true;
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
  look(&value, "", &event_shape());
  if (event_type == "message_start") {
    look(member_of(value, "message"), "/message", &message_shape());
  } else if (event_type == "message_delta") {
    look(member_of(value, "delta"), "/delta", &message_delta_shape());
  } else if (const json::value* const block = member_of(value, "content_block")) {
    look(block, "/content_block", block_shape(text_in(*block, "type")));
  } else if (const json::value* const delta = member_of(value, "delta")) {
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
