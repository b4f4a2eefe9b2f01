#include "agent/model/anthropic_wire.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "agent/model/history_text.h"
#include "llm/wire_json.h"

namespace sallyport::agent {

namespace {

using llm::count_in;
using llm::member_of;
using llm::object_in;
using llm::text_in;

// Builds messages with alternating roles, as the API requires.
class Turns {
 public:
  // Puts results before texts, because the API requires them directly after their calls.
  void add(std::string_view role, json::object block) {
    if (messages_.empty() || role_ != role) {
      role_ = role;
      messages_.push_back(json::object{{"role", role}, {"content", json::array()}});
    }
    json::array& blocks = messages_.back().at("content").as_array();
    const bool result = block.at("type") == "tool_result";
    const auto place = result ? std::ranges::find_if_not(blocks, is_result) : blocks.end();
    blocks.insert(place, std::move(block));
  }
  void add_text(std::string_view role, std::string text) {
    if (!text.empty()) add(role, {{"type", "text"}, {"text", std::move(text)}});
  }
  json::array take() { return std::move(messages_); }

 private:
  static bool is_result(const json::value& block) {
    return text_in(block, "type") == "tool_result";
  }

  json::array messages_;
  std::string role_;
};

json::object tool_use(const json::value& block) {
  json::object made{{"type", "tool_use"},
                    {"id", wire_id(text_in(block, "id"))},
                    {"name", wire_name(text_in(block, "name"))}};
  const json::value* const input = member_of(block, "input");
  if (input != nullptr && input->is_object()) {
    made["input"] = *input;
  } else if (input != nullptr && input->is_string()) {
    made["input"] = json::object{{"unreadable_arguments", *input}};
  } else {
    made["input"] = json::object();
  }
  return made;
}

json::object tool_result(const sessions::Item& item) {
  json::object made{{"type", "tool_result"},
                    {"tool_use_id", wire_id(item.tool_call_id.value_or(""))}};
  if (std::string text = text_of_item(item); !text.empty()) made["content"] = std::move(text);
  for (const json::value& block : item.content) {
    const json::value* const error = member_of(block, "is_error");
    if (error != nullptr && *error == json::value(true)) made["is_error"] = true;
  }
  return made;
}

json::array anthropic_messages(const ModelRequest& request) {
  Turns turns;
  for (const sessions::Item& item : request.history) {
    switch (item.role) {
      case sessions::Role::System:
        break;
      case sessions::Role::User:
        for (const json::value& block : item.content) turns.add_text("user", text_of_block(block));
        break;
      case sessions::Role::Assistant:
        for (const json::value& block : item.content) {
          if (text_in(block, "type") == "tool_call") {
            turns.add("assistant", tool_use(block));
          } else {
            turns.add_text("assistant", text_of_block(block));
          }
        }
        break;
      case sessions::Role::Tool:
        turns.add("user", tool_result(item));
        break;
    }
  }
  turns.add_text("user", marked_recall(request.recalled));
  return turns.take();
}

// The API refuses a history with calls if no tool is declared.
json::array used_tools(const ModelRequest& request) {
  std::set<std::string> names;
  for (const sessions::Item& item : request.history) {
    for (const json::value& block : item.content) {
      if (text_in(block, "type") == "tool_call") names.insert(wire_name(text_in(block, "name")));
    }
  }
  json::array tools;
  for (const std::string& name : names) {
    tools.push_back(
        json::object{{"name", name}, {"input_schema", json::object{{"type", "object"}}}});
  }
  return tools;
}

class AnthropicFrames final : public FrameReader {
 public:
  ModelResult<void> take(const net::SseEvent& event, std::vector<ModelEvent>& out) override {
    const Result<ParsedJson> parsed = llm::read_wire_json(event.data);
    if (!parsed || !parsed->value.is_object()) {
      return malformed_stream("an event of the answer is not a JSON object");
    }
    const json::value& value = parsed->value;
    const std::string_view type = text_in(value, "type");
    if (type == "message_start") {
      begun_ = true;
      if (const json::value* const message = member_of(value, "message")) {
        take_usage(*message, out);
      }
    } else if (type == "content_block_start") {
      return start_block(value, out);
    } else if (type == "content_block_delta") {
      return take_delta(value, out);
    } else if (type == "content_block_stop") {
      return stop_block(value, out);
    } else if (type == "message_delta") {
      take_end(value, out);
    } else if (type == "message_stop") {
      return stop();
    } else if (type == "error") {
      return std::unexpected(error_of(value));
    }
    return {};
  }

  bool ended() const override { return ended_; }

  ModelResult<void> finish() const override {
    if (ended_) return {};
    return std::unexpected(
        provider_error(TransportFault::MissingEnd, "the answer ended without `message_stop`"));
  }

 private:
  struct Block {
    enum class Kind : std::uint8_t { Text, Call, Other };
    Kind kind = Kind::Other;
    bool open = true;
    bool has_arguments = false;
    std::string input{};  // that came with its start
  };

  static ProviderError error_of(const json::value& value) {
    const json::value* const error = member_of(value, "error");
    if (error == nullptr) return provider_error_of_frame("", "an error without a message");
    std::string type(text_in(*error, "type"));
    std::string message(text_in(*error, "message"));
    return provider_error_of_frame(type, message.empty() ? type : std::move(message));
  }

  ModelResult<void> start_block(const json::value& value, std::vector<ModelEvent>& out) {
    const auto index = count_in(value, "index");
    const json::value* const content = member_of(value, "content_block");
    if (!begun_ || !index || content == nullptr || blocks_.contains(*index)) {
      return malformed_stream(
          "a content block begins without a message, without an index of its own "
          "or without a type");
    }
    if (blocks_.size() == kMostBlocks) return malformed_stream("the message has too many blocks");
    Block& block = blocks_[*index];
    const std::string_view type = text_in(*content, "type");
    if (type == "text") {
      block.kind = Block::Kind::Text;
      if (const std::string_view text = text_in(*content, "text"); !text.empty()) {
        out.emplace_back(TextDelta{std::string(text)});
      }
    } else if (type == "tool_use") {
      block.kind = Block::Kind::Call;
      CallDelta call{.index = *index,
                     .id = std::string(text_in(*content, "id")),
                     .name = std::string(text_in(*content, "name"))};
      if (call.id.empty() || call.name.empty()) {
        return malformed_stream("a tool call has no id or no name");
      }
      const json::object* const input = object_in(*content, "input");
      block.input = input == nullptr ? "{}" : json::serialize(*input);
      out.emplace_back(std::move(call));
    }
    return {};
  }

  Block* open_block(const json::value& value) {
    const auto index = count_in(value, "index");
    const auto found = index ? blocks_.find(*index) : blocks_.end();
    return found == blocks_.end() || !found->second.open ? nullptr : &found->second;
  }

  ModelResult<void> take_delta(const json::value& value, std::vector<ModelEvent>& out) {
    Block* const block = open_block(value);
    if (block == nullptr) return malformed_stream("a fragment of a content block that is not open");
    const json::value* const delta = member_of(value, "delta");
    const std::string_view type = delta == nullptr ? std::string_view() : text_in(*delta, "type");
    if (type == "text_delta" && block->kind != Block::Kind::Other) {
      if (block->kind != Block::Kind::Text) return malformed_stream("text inside a tool call");
      const std::string_view text = text_in(*delta, "text");
      if (!text.empty()) out.emplace_back(TextDelta{std::string(text)});
    } else if (type == "input_json_delta" && block->kind != Block::Kind::Other) {
      if (block->kind != Block::Kind::Call) return malformed_stream("arguments inside a text");
      const std::string_view part = text_in(*delta, "partial_json");
      if (part.empty()) return {};
      block->has_arguments = true;
      out.emplace_back(
          CallDelta{.index = *count_in(value, "index"), .arguments = std::string(part)});
    }
    return {};
  }

  // A call without fragments uses the input from its start event.
  ModelResult<void> stop_block(const json::value& value, std::vector<ModelEvent>& out) {
    Block* const block = open_block(value);
    if (block == nullptr) return malformed_stream("the end of a content block that is not open");
    block->open = false;
    if (block->kind == Block::Kind::Call && !block->has_arguments) {
      out.emplace_back(
          CallDelta{.index = *count_in(value, "index"), .arguments = std::move(block->input)});
    }
    return {};
  }

  void take_end(const json::value& value, std::vector<ModelEvent>& out) {
    take_usage(value, out);
    const json::value* const delta = member_of(value, "delta");
    if (delta == nullptr) return;
    const std::string_view reason = text_in(*delta, "stop_reason");
    if (reason.empty()) return;
    const bool at_limit = reason == "max_tokens" || reason == "model_context_window_exceeded";
    out.emplace_back(StopReport{std::string(reason), at_limit});
  }

  ModelResult<void> stop() {
    const bool open = std::ranges::any_of(blocks_, [](const auto& one) { return one.second.open; });
    if (!begun_ || open) {
      return malformed_stream("`message_stop` came before the message or one of its blocks ended");
    }
    ended_ = true;
    return {};
  }

  // Counts are cumulative, and a later frame names only some of them.
  void take_usage(const json::value& holder, std::vector<ModelEvent>& out) {
    const json::value* const reported = member_of(holder, "usage");
    if (reported == nullptr || !reported->is_object()) return;
    const auto take = [&](const char* name, std::optional<std::uint64_t>& count) {
      if (const auto number = count_in(*reported, name)) count = number;
    };
    take("input_tokens", usage_.input_tokens);
    take("output_tokens", usage_.output_tokens);
    take("cache_read_input_tokens", usage_.cache_read_input_tokens);
    take("cache_creation_input_tokens", usage_.cache_creation_input_tokens);
    out.emplace_back(UsageReport{usage_});
  }

  static constexpr std::size_t kMostBlocks = 4096;

  std::map<std::uint64_t, Block> blocks_;
  Usage usage_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace

std::string anthropic_body(const ModelRequest& request) {
  json::object body{{"model", request.model}, {"max_tokens", request.max_output_tokens}};
  if (std::string system = system_text(request); !system.empty()) {
    body["system"] = std::move(system);
  }
  body["messages"] = anthropic_messages(request);
  json::array tools;
  for (const OfferedTool& tool : request.tools) {
    tools.push_back(json::object{
        {"name", tool.name}, {"description", tool.description}, {"input_schema", tool.schema}});
  }
  if (tools.empty()) tools = used_tools(request);
  if (!tools.empty() && request.purpose == Purpose::Summary) {
    body["tool_choice"] = json::object{{"type", "none"}};
  }
  if (!tools.empty()) body["tools"] = std::move(tools);
  body["stream"] = true;
  return json::serialize(body);
}

std::unique_ptr<FrameReader> anthropic_frames() {
  return std::make_unique<AnthropicFrames>();
}

}  // namespace sallyport::agent
