#include "agent/model/chat_wire.h"

#include <boost/json.hpp>

#include "agent/model/history_text.h"
#include "llm/wire_json.h"

namespace sallyport::agent {

namespace {

using llm::array_in;
using llm::count_in;
using llm::member_of;
using llm::object_in;
using llm::text_in;

json::object chat_call(const json::value& block) {
  const json::value* const input = member_of(block, "input");
  std::string arguments = "{}";
  if (input != nullptr) {
    arguments = input->is_string() ? std::string(input->get_string()) : json::serialize(*input);
  }
  return {{"id", wire_id(text_in(block, "id"))},
          {"type", "function"},
          {"function", json::object{{"name", wire_name(text_in(block, "name"))},
                                    {"arguments", std::move(arguments)}}}};
}

void add_assistant(json::array& messages, const sessions::Item& item) {
  json::array calls;
  for (const json::value& block : item.content) {
    if (text_in(block, "type") == "tool_call") calls.push_back(chat_call(block));
  }
  const std::string text = text_of_item(item);
  if (text.empty() && calls.empty()) return;
  json::object message{{"role", "assistant"},
                       {"content", text.empty() ? json::value(nullptr) : json::value(text)}};
  if (!calls.empty()) message["tool_calls"] = std::move(calls);
  messages.push_back(std::move(message));
}

json::array chat_messages(const ModelRequest& request) {
  json::array messages;
  const auto add = [&](std::string_view role, std::string text) {
    if (text.empty()) return;
    messages.push_back(json::object{{"role", role}, {"content", std::move(text)}});
  };
  add("system", system_text(request));
  for (const sessions::Item& item : request.history) {
    switch (item.role) {
      case sessions::Role::System:
        break;
      case sessions::Role::User:
        add("user", text_of_item(item));
        break;
      case sessions::Role::Assistant:
        add_assistant(messages, item);
        break;
      case sessions::Role::Tool:
        messages.push_back(json::object{{"role", "tool"},
                                        {"tool_call_id", wire_id(item.tool_call_id.value_or(""))},
                                        {"content", text_of_item(item)}});
        break;
    }
  }
  add("user", marked_recall(request.recalled));
  return messages;
}

// A finish reason ends a choice. `[DONE]` or the end of the body ends the answer.
class ChatFrames final : public FrameReader {
 public:
  ModelResult<void> take(const net::SseEvent& event, std::vector<ModelEvent>& out) override {
    if (event.data == "[DONE]") {
      done_ = true;
      return {};
    }
    const Result<ParsedJson> parsed = llm::read_wire_json(event.data);
    if (!parsed || !parsed->value.is_object()) {
      return malformed_stream("a chunk of the answer is not a JSON object");
    }
    const json::value& chunk = parsed->value;
    const json::value* const error = member_of(chunk, "error");
    if (error != nullptr && !error->is_null()) return std::unexpected(error_of(*error));
    if (const json::array* const choices = array_in(chunk, "choices")) {
      for (const json::value& choice : *choices) {
        if (auto taken = take_choice(choice, out); !taken) return taken;
      }
    }
    take_usage(chunk, out);
    return {};
  }

  bool ended() const override { return done_; }

  ModelResult<void> finish() const override {
    if (done_ || finished_) return {};
    return std::unexpected(
        provider_error(TransportFault::MissingEnd,
                       "the answer ended without a finish reason and without `[DONE]`"));
  }

 private:
  static ProviderError error_of(const json::value& error) {
    if (error.is_string()) {
      const std::string text(error.get_string());
      return provider_error_of_frame(text, text);
    }
    std::string type(text_in(error, "type"));
    if (const std::string_view code = text_in(error, "code"); !code.empty()) {
      type.append(" ").append(code);
    }
    const json::value* const code = member_of(error, "code");
    if (code != nullptr && (*code == json::value(429) || *code == json::value(529))) {
      type.append(" rate_limit");
    }
    std::string message(text_in(error, "message"));
    return provider_error_of_frame(type, message.empty() ? type : std::move(message));
  }

  ModelResult<void> take_choice(const json::value& choice, std::vector<ModelEvent>& out) {
    // The request asked for one choice.
    if (const json::value* const index = member_of(choice, "index");
        index != nullptr && *index != json::value(0)) {
      return malformed_stream("the answer has a choice that was not asked for");
    }
    if (const json::value* const delta = member_of(choice, "delta")) {
      for (const char* const name : {"content", "refusal"}) {
        const std::string_view text = text_in(*delta, name);
        if (!text.empty()) out.emplace_back(TextDelta{std::string(text)});
      }
      if (const json::array* const calls = array_in(*delta, "tool_calls")) {
        for (std::size_t i = 0; i < calls->size(); ++i) {
          if (auto taken = take_call((*calls)[i], i, out); !taken) return taken;
        }
      }
    }
    if (const std::string_view reason = text_in(choice, "finish_reason"); !reason.empty()) {
      finished_ = true;
      out.emplace_back(StopReport{std::string(reason), reason == "length"});
    }
    return {};
  }

  static ModelResult<void> take_call(const json::value& call, std::size_t position,
                                     std::vector<ModelEvent>& out) {
    CallDelta delta{.index = position, .id = std::string(text_in(call, "id"))};
    // Servers that send each call in one piece may omit the index.
    if (const json::value* const index = member_of(call, "index");
        index != nullptr && !index->is_null()) {
      const auto number = count_in(call, "index");
      if (!number) return malformed_stream("a tool call has an index that is not a number");
      delta.index = *number;
    }
    if (const json::value* const function = member_of(call, "function")) {
      delta.name = text_in(*function, "name");
      const json::value* const arguments = member_of(*function, "arguments");
      if (arguments != nullptr && arguments->is_object()) {
        delta.arguments = json::serialize(*arguments);
      } else {
        delta.arguments = text_in(*function, "arguments");
      }
    }
    out.emplace_back(std::move(delta));
    return {};
  }

  static void take_usage(const json::value& chunk, std::vector<ModelEvent>& out) {
    const json::value* const reported = member_of(chunk, "usage");
    if (reported == nullptr || !reported->is_object()) return;
    Usage usage{.input_tokens = count_in(*reported, "prompt_tokens"),
                .output_tokens = count_in(*reported, "completion_tokens"),
                .total_tokens = count_in(*reported, "total_tokens")};
    if (const json::value* const details = member_of(*reported, "prompt_tokens_details")) {
      usage.cache_read_input_tokens = count_in(*details, "cached_tokens");
    }
    if (const json::value* const details = member_of(*reported, "completion_tokens_details")) {
      usage.reasoning_tokens = count_in(*details, "reasoning_tokens");
    }
    out.emplace_back(UsageReport{usage});
  }

  bool done_ = false;
  bool finished_ = false;
};

}  // namespace

std::string chat_body(const ModelRequest& request, std::string_view limit_name) {
  json::object body{{"model", request.model},
                    {"messages", chat_messages(request)},
                    {"stream", true},
                    {"stream_options", json::object{{"include_usage", true}}}};
  body[limit_name] = request.max_output_tokens;
  json::array tools;
  for (const OfferedTool& tool : request.tools) {
    tools.push_back(json::object{{"type", "function"},
                                 {"function", json::object{{"name", tool.name},
                                                           {"description", tool.description},
                                                           {"parameters", tool.schema}}}});
  }
  if (!tools.empty() && request.purpose == Purpose::Summary) body["tool_choice"] = "none";
  if (!tools.empty()) body["tools"] = std::move(tools);
  return json::serialize(body);
}

std::unique_ptr<FrameReader> chat_frames() {
  return std::make_unique<ChatFrames>();
}

}  // namespace sallyport::agent
