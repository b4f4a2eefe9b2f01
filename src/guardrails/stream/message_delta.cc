#include "guardrails/stream/message_delta.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <vector>

#include "base/object_reader.h"
#include "base/try.h"

namespace sallyport::guardrails {

namespace {

Result<void> refuse_other_members(const json::object& line,
                                  const std::vector<std::string_view>& known) {
  for (const auto& [name, value] : line) {
    if (std::ranges::find(known, std::string_view(name)) != known.end()) continue;
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` does not belong here; a line has {}", std::string_view(name),
                            fmt::join(known, ", ")));
  }
  return {};
}

Result<MessageDelta> read_tokens(const json::object& line) {
  SALLYPORT_CHECK_OK(refuse_other_members(line, {"tokens"}));
  ObjectReader in(line);
  MessageDelta read{.tokens = in.number("tokens")};
  if (!in.ok()) return std::unexpected(in.error());
  return read;
}

bool truth(ObjectReader& in, std::string_view name) {
  return in.has(name) && in.boolean(name);
}

}  // namespace

Result<MessageDelta> read_message_delta(std::string_view line) {
  SALLYPORT_TRY(const ParsedJson parsed, parse_json(line));
  const json::object* const object = parsed.value.if_object();
  if (object == nullptr) return fail(ErrorCode::InvalidInput, "a line is a JSON object");
  if (object->contains("tokens")) return read_tokens(*object);
  ObjectReader in(*object);
  const std::string channel = in.word("channel", {"text", "reasoning", "tool_call"});
  if (!in.ok()) return std::unexpected(in.error());
  const bool of_call = channel == "tool_call";
  using Members = std::vector<std::string_view>;
  SALLYPORT_CHECK_OK(refuse_other_members(
      *object, of_call ? Members{"channel", "id", "tool", "delta", "done", "started"}
                       : Members{"channel", "delta", "done"}));
  MessageDelta read;
  if (of_call) {
    read.call = in.text("id");
    read.tool = in.optional_text("tool").value_or("");
    read.started = truth(in, "started");
  } else {
    read.channel = channel == "text" ? Channel::Text : Channel::Reasoning;
  }
  read.delta = in.optional_text("delta");
  read.done = truth(in, "done");
  if (!in.ok()) return std::unexpected(in.error());
  if (of_call && read.call.empty()) {
    return fail(ErrorCode::InvalidInput, "a tool call has an `id` that is not empty");
  }
  return read;
}

}  // namespace sallyport::guardrails
