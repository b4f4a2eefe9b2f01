#include "llm/responses_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <span>

#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Members of items that are not texts: ids, words of the API, opaque bytes and media.
constexpr std::array<std::string_view, 22> kPlainMembers{
    "id",        "type",         "status",     "role",         "call_id",           "created_by",
    "caller",    "phase",        "name",       "namespace",    "server_label",      "execution",
    "result_id", "container_id", "background", "quality",      "encrypted_content", "fingerprint",
    "size",      "environment",  "action_id",  "output_format"};

// The meaning of a member of an item.
enum class ItemHolds : std::uint8_t { Call, Result, Media, Text };
struct MemberRule {
  std::string_view type;
  std::string_view member;
  ItemHolds holds;
};
constexpr std::array<MemberRule, 28> kItemMembers{{
    {"mcp_call", "arguments", ItemHolds::Call},
    {"mcp_call", "output", ItemHolds::Result},
    {"mcp_call", "error", ItemHolds::Result},
    {"mcp_call", "approval_request_id", ItemHolds::Media},
    {"code_interpreter_call", "code", ItemHolds::Call},
    {"code_interpreter_call", "outputs", ItemHolds::Result},
    {"file_search_call", "queries", ItemHolds::Call},
    {"file_search_call", "results", ItemHolds::Result},
    {"web_search_call", "action", ItemHolds::Call},
    {"web_search_call", "results", ItemHolds::Result},
    {"shell_call", "action", ItemHolds::Call},
    {"shell_call_output", "output", ItemHolds::Result},
    {"program", "code", ItemHolds::Call},
    {"program_output", "result", ItemHolds::Result},
    {"tool_search_call", "arguments", ItemHolds::Call},
    {"tool_search_output", "tools", ItemHolds::Result},
    {"mcp_list_tools", "tools", ItemHolds::Result},
    {"mcp_list_tools", "error", ItemHolds::Result},
    {"image_generation_call", "result", ItemHolds::Media},
    {"image_generation_call", "revised_prompt", ItemHolds::Call},
    {"function_call_output", "output", ItemHolds::Result},
    {"custom_tool_call_output", "output", ItemHolds::Result},
    {"computer_call_output", "output", ItemHolds::Result},
    {"local_shell_call_output", "output", ItemHolds::Result},
    {"apply_patch_call_output", "output", ItemHolds::Result},
    {"mcp_approval_response", "approval_request_id", ItemHolds::Media},
    {"mcp_approval_response", "reason", ItemHolds::Text},
    {"additional_tools", "tools", ItemHolds::Text},
}};
constexpr std::array<std::string_view, 5> kOtherTypes{"message", "reasoning", "compaction",
                                                      "item_reference", "compaction_trigger"};

bool is_known_type(std::string_view type) {
  return is_among(type, kOtherTypes) ||
         std::ranges::any_of(kItemMembers,
                             [&](const MemberRule& rule) { return rule.type == type; });
}

// Is this member of an object inside an item a text at all?
bool is_plain(std::string_view name, const json::object& parent) {
  if (is_opaque(name, parent) || name == "type" || name == "id" || name.ends_with("_id")) {
    return true;
  }
  if (name == "image_url" || name == "file_data") return true;
  const json::value* const type = parent.if_contains("type");
  return name == "url" && type != nullptr && *type == "image";
}

// Reads the texts of one item.
class ItemReader {
 public:
  ItemReader(const json::value& item, std::uint64_t index, ItemTexts& out)
      : item_(item), type_(item_type(item)), index_(index), out_(out) {}

  void read() {
    const json::object* const members = item_.if_object();
    if (members == nullptr || !is_known_type(type_)) {
      out_.unknown.emplace_back(type_);
      return add_unknown_texts(out_, item_, "", index_);
    }
    for (const auto& [name, value] : *members) member(name, value);
  }

 private:
  void member(std::string_view name, const json::value& value) {
    const std::string pointer = pointer_to("", name);
    for (const MemberRule& rule : kItemMembers) {
      if (rule.type == type_ && rule.member == name) return take(rule.holds, pointer, value);
    }
    if (is_among(name, kPlainMembers)) return;
    const bool message = type_ == "message" && name == "content";
    const bool reasoning = type_ == "reasoning" && (name == "content" || name == "summary");
    if (!message && !reasoning) return add_unknown_texts(out_, value, pointer, index_);
    if (value.is_string()) return add(pointer, value, {.kind = ChannelKind::Text});
    parts(pointer, value, name == "summary" ? kSummaryPart : 0);
  }

  void parts(const std::string& pointer, const json::value& value, std::uint64_t first) {
    const json::array* const list = value.if_array();
    if (list == nullptr) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      add_part_texts(out_, (*list)[i], pointer_to(pointer, i), index_, first + i);
    }
  }

  void take(ItemHolds holds, const std::string& pointer, const json::value& value) {
    ChannelId channel{.kind = ChannelKind::Whole, .item = index_};
    if (holds == ItemHolds::Media) return;
    if (holds == ItemHolds::Call) channel.kind = ChannelKind::ProviderCall;
    if (holds == ItemHolds::Result) {
      channel.kind = ChannelKind::ProviderResult;
      channel.tool = tool_of(item_);
    }
    if (type_ == "shell_call_output") return shell_output(pointer, value, channel);
    walk(pointer, value, channel);
  }

  // Each command has its own stdout and stderr, which come in deltas.
  void shell_output(const std::string& pointer, const json::value& value, ChannelId channel) {
    const json::array* const list = value.if_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const json::object* const members = (*list)[i].if_object();
      if (members == nullptr) continue;
      for (const auto& [name, text] : *members) {
        channel.part = name == "stderr" ? kErrorPart + i : i;
        if (!is_among(name, kPlainMembers)) {
          walk(pointer_to(pointer_to(pointer, i), name), text, channel);
        }
      }
    }
  }

  void walk(const std::string& pointer, const json::value& value, const ChannelId& channel) {
    if (const json::array* const list = value.if_array()) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        ChannelId part_channel = channel;
        if (type_ == "shell_call") part_channel.part = i;
        walk(pointer_to(pointer, i), (*list)[i], part_channel);
      }
    } else if (const json::object* const members = value.if_object()) {
      for (const auto& [name, member] : *members) {
        if (is_plain(name, *members)) continue;
        ChannelId below = channel;
        if (type_ == "web_search_call" && name == "sources") {
          below.kind = ChannelKind::ProviderResult;
          below.tool = tool_of(item_);
        }
        walk(pointer_to(pointer, name), member, below);
      }
    } else {
      add(pointer, value, channel);
    }
  }

  void add(const std::string& pointer, const json::value& value, ChannelId channel) {
    const json::string* const text = value.if_string();
    if (text == nullptr) return;
    channel.item = index_;
    out_.texts.push_back({.pointer = pointer, .text = *text, .channel = std::move(channel)});
  }

  const json::value& item_;
  std::string_view type_;
  std::uint64_t index_;
  ItemTexts& out_;
};

bool has_value(const json::value& item, std::string_view name) {
  const json::value* const member = member_of(item, name);
  return member != nullptr && !member->is_null();
}

// A computer call may have both `action` and `actions`, and a client may execute either.
bool has_two_arguments(const json::value& item) {
  return item_type(item) == "computer_call" && has_value(item, "action") &&
         has_value(item, "actions");
}

// The member of an item with the arguments of its call.
std::string_view arguments_member(const json::value& item) {
  const std::string_view type = item_type(item);
  if (type == "custom_tool_call") return "input";
  if (type == "apply_patch_call") return "operation";
  if (type == "computer_call") return has_value(item, "actions") ? "actions" : "action";
  if (type == "local_shell_call" || type == "shell_call") return "action";
  return "arguments";
}

constexpr std::array<std::string_view, 7> kClientCalls{
    "function_call",    "custom_tool_call", "computer_call",       "local_shell_call",
    "apply_patch_call", "shell_call",       "mcp_approval_request"};

}  // namespace

std::string_view item_type(const json::value& item) {
  const std::string_view type = text_in(item, "type");
  if (!type.empty()) return type;
  return member_of(item, "role") != nullptr || member_of(item, "content") != nullptr
             ? "message"
             : "item_reference";
}

bool is_client_call(const json::value& item) {
  const std::string_view type = item_type(item);
  if (type == "tool_search_call") return text_in(item, "execution") == "client";
  if (type != "shell_call") return is_among(type, kClientCalls);
  const json::object* const environment = object_in(item, "environment");
  return environment == nullptr || text_in(*member_of(item, "environment"), "type") == "local";
}

bool is_call_event(std::string_view type) {
  return type.starts_with("response.function_call_arguments.") ||
         type.starts_with("response.custom_tool_call_input.") ||
         type.starts_with("response.apply_patch_call_operation_diff.");
}

std::string call_id_of(const json::value& item) {
  for (const std::string_view name : {"call_id", "id"}) {
    const std::string_view id = text_in(item, name);
    if (!id.empty()) return std::string(id);
  }
  return {};
}

std::string tool_of(const json::value& item) {
  std::string_view name = text_in(item, "name");
  if (!name.empty()) return std::string(name);
  name = item_type(item);
  for (const std::string_view end : {"_output", "_call"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  return std::string(name);
}

std::optional<ProposedCall> read_call(const json::value& item, std::string_view raw) {
  const std::string_view type = item_type(item);
  ProposedCall call{.type = std::string(type), .id = call_id_of(item), .name = tool_of(item)};
  const std::string_view member = arguments_member(item);
  const json::value* const given = member_of(item, member);
  if (given == nullptr) return std::nullopt;
  if (type == "custom_tool_call") {
    call.input = json::object{{"input", *given}};
    return call;
  }
  const bool two = has_two_arguments(item);
  std::string text(value_at(raw, pointer_to("", member)));
  if (two) {
    text = fmt::format(R"({{"action":{},"actions":{}}})", value_at(raw, "/action"), text);
  }
  if (const json::string* const written = given->if_string(); written && !two) text = *written;
  const Result<ParsedJson> arguments = read_wire_json(text);
  if (!arguments) return std::nullopt;
  call.input = arguments->value;
  if (type == "computer_call" && member == "actions" && !two) {
    call.input = json::object{{"actions", arguments->value}};
    text = fmt::format("{{\"actions\":{}}}", text);
  }
  if (!arguments->exact) call.raw_input = std::move(text);
  return call;
}

void write_arguments(Splice& splice, const std::string& pointer, const json::value& item,
                     const json::value& input) {
  const std::string_view type = item_type(item);
  if (has_two_arguments(item)) {
    for (const std::string_view name : {"action", "actions"}) {
      const json::value* const made = member_of(input, name);
      splice.replace(pointer_to(pointer, name), made ? canonical_json(*made) : "null");
    }
    return;
  }
  const std::string_view member = arguments_member(item);
  const json::value* const given = member_of(item, member);
  std::string text = canonical_json(input);
  if (type == "custom_tool_call") {
    const json::value* const inner = member_of(input, "input");
    text = json_string(inner && inner->is_string() ? std::string_view(inner->get_string()) : text);
  } else if (given != nullptr && given->is_string()) {
    text = json_string(text);
  } else if (type == "computer_call" && member == "actions" && member_of(input, "actions")) {
    text = canonical_json(*member_of(input, "actions"));
  }
  splice.replace(pointer_to(pointer, member), std::move(text));
}

std::optional<StreamedArguments> streamed_arguments(const json::value& item) {
  const std::string_view type = item_type(item);
  const auto made = [](std::string_view event, std::string_view member, std::string_view text) {
    return StreamedArguments{fmt::format("response.{}.delta", event),
                             fmt::format("response.{}.done", event), std::string(member),
                             std::string(text)};
  };
  if (type == "function_call") {
    return made("function_call_arguments", "arguments", text_in(item, "arguments"));
  }
  if (type == "custom_tool_call") {
    return made("custom_tool_call_input", "input", text_in(item, "input"));
  }
  const json::value* const operation = member_of(item, "operation");
  if (type != "apply_patch_call" || operation == nullptr) return std::nullopt;
  return made("apply_patch_call_operation_diff", "diff", text_in(*operation, "diff"));
}

ItemTexts texts_of(const json::value& item, std::uint64_t index) {
  ItemTexts out;
  ItemReader(item, index, out).read();
  return out;
}

ItemTexts unknown_texts_of_call(const json::value& item, std::uint64_t index) {
  static constexpr std::array<std::string_view, 2> kCallMembers{"pending_safety_checks",
                                                                "approval_request_id"};
  ItemTexts out;
  for (const auto& [name, value] : item.get_object()) {
    const bool decided =
        name == arguments_member(item) || (name == "action" && has_two_arguments(item));
    if (decided || is_among(name, kPlainMembers) || is_among(name, kCallMembers)) continue;
    add_unknown_texts(out, value, pointer_to("", name), index);
  }
  return out;
}

void add_part_texts(ItemTexts& out, const json::value& part, const std::string& pointer,
                    std::uint64_t index, std::uint64_t number) {
  const std::string_view type = text_in(part, "type");
  const bool reasoning = type == "reasoning_text" || type == "summary_text";
  const bool refusal = type == "refusal";
  const bool text = type == "output_text" || type == "input_text" || type == "text";
  if (!reasoning && !refusal && !text) {
    if (type == "input_image" || type == "input_file") return;
    out.unknown.emplace_back(type);
    return add_unknown_texts(out, part, pointer, index);
  }
  for (const auto& [name, value] : part.get_object()) {
    const std::string below = pointer_to(pointer, name);
    const json::string* const words = value.if_string();
    if (words != nullptr && name == (refusal ? "refusal" : "text")) {
      ChannelKind kind = reasoning ? ChannelKind::Reasoning : ChannelKind::Text;
      if (refusal) kind = ChannelKind::Refusal;
      out.texts.push_back({.pointer = below,
                           .text = *words,
                           .channel = {.kind = kind, .item = index, .part = number}});
    } else if (name != "type" &&
               !(value.is_array() && (name == "annotations" || name == "logprobs"))) {
      add_unknown_texts(out, value, below, index);
    }
  }
}

void add_unknown_texts(ItemTexts& out, const json::value& value, const std::string& pointer,
                       std::uint64_t index) {
  if (const json::string* const text = value.if_string()) {
    out.texts.push_back({.pointer = pointer,
                         .text = *text,
                         .channel = {.kind = ChannelKind::Whole, .item = index},
                         .fixed = true});
  } else if (const json::array* const list = value.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      add_unknown_texts(out, (*list)[i], pointer_to(pointer, i), index);
    }
  } else if (const json::object* const members = value.if_object()) {
    for (const auto& [name, member] : *members) {
      if (is_opaque(name, *members)) continue;
      add_unknown_texts(out, member, pointer_to(pointer, name), index);
    }
  }
}

std::string message_item(std::string_view id, std::string_view status, std::string_view parts) {
  return fmt::format(
      R"({{"id":{},"type":"message","status":{},"role":"assistant","content":[{}]}})",
      json_string(id), json_string(status), parts);
}

std::string text_part(std::string_view text) {
  return fmt::format(R"({{"type":"output_text","annotations":[],"logprobs":[],"text":{}}})",
                     json_string(text));
}

std::string json_list(const std::vector<std::string>& elements) {
  std::string list = "[";
  for (const std::string& element : elements) {
    if (list.size() > 1) list += ',';
    list += element;
  }
  return list + "]";
}

std::string refusal_part(std::string_view text) {
  return fmt::format(R"({{"type":"refusal","refusal":{}}})", json_string(text));
}

}  // namespace sallyport::llm
