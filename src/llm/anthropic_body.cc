// Messages of Anthropic that are not streamed. Each block passes as one event with all of it.
#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>

#include "base/try.h"
#include "llm/anthropic_adapter.h"
#include "llm/wire_json.h"

namespace sallyport::llm {

namespace {

constexpr std::size_t kBody = std::size_t{64} * 1024 * 1024;  // MP-78
constexpr std::array<std::string_view, 3> kStopMembers{"stop_reason", "stop_sequence",
                                                       "stop_details"};

// Collects the events into blocks, as a client does.
class BlockCollector : public EventSink {
 public:
  void event(std::string_view name, std::string_view data) override {
    if (name == "content_block_start") {
      blocks.emplace_back(value_at(data, "/content_block"));
    } else if (name == "content_block_delta") {
      add(*read_wire_json(value_at(data, "/delta")));
    } else if (name == "message_delta") {
      delta = value_at(data, "/delta");
    }
  }
  void last(std::string_view, std::string_view) override {}

  std::vector<std::string> blocks;
  std::string delta;

 private:
  void add(const ParsedJson& parsed) {
    Splice edits;
    if (text_in(parsed.value, "type") == "input_json_delta") {
      edits.replace("/input", std::string(text_in(parsed.value, "partial_json")));
    } else {
      const std::string_view member =
          text_in(parsed.value, "type") == "text_delta" ? "text" : "thinking";
      const Result<ParsedJson> block = read_wire_json(blocks.back());
      edits.replace(pointer_to("", member),
                    json_string(std::string(text_in(block->value, member)) +
                                std::string(text_in(parsed.value, member))));
    }
    blocks.back() = edits.applied(blocks.back());
  }
};

// Adds the edits that turn `received` into `sent`.
void edit_elements(Splice& edits, const std::vector<std::string_view>& received,
                   const std::vector<std::string>& sent) {
  for (std::size_t i = 0; i < std::max(received.size(), sent.size()); ++i) {
    if (i >= received.size()) {
      edits.append("/content", sent[i]);
    } else if (i >= sent.size()) {
      edits.remove(pointer_to("/content", i));
    } else if (received[i] != sent[i]) {
      edits.replace(pointer_to("/content", i), sent[i]);
    }
  }
}

}  // namespace

Task<std::string> AnthropicAdapter::on_body(std::string body) {
  const Result<ParsedJson> parsed = read_wire_json(body, {.bytes = kBody});
  const std::string_view content = parsed ? value_at(body, "/content") : std::string_view();
  if (!parsed || text_in(parsed->value, "type") != "message" || !content.starts_with('[')) {
    co_return sallyport::fail(ErrorCode::Corrupt, "the provider's answer is not a message");
  }
  whole_body_ = true;
  open_message(parsed->value);
  const std::vector<std::string_view> came = elements_of(content);
  BlockCollector left;
  const std::optional<UnknownHit> hit = look_at_members({}, parsed->value);
  if (hit) end_blocked(hit->block, left);
  for (std::size_t i = 0; i < came.size() && !complete_; ++i) {
    SALLYPORT_CO_CHECK_OK(co_await on_event(
        {.name = "content_block_start",
         .data = fmt::format(R"({{"type":"content_block_start","index":{},"content_block":{}}})", i,
                             came[i])},
        left));
    SALLYPORT_CO_CHECK_OK(
        co_await on_event({.name = "content_block_stop",
                           .data = fmt::format(R"({{"type":"content_block_stop","index":{}}})", i)},
                          left));
  }
  std::string delta;
  for (const std::string_view name : kStopMembers) {
    const std::string_view value = value_at(body, pointer_to("", name));
    if (!value.empty()) fmt::format_to(std::back_inserter(delta), ",\"{}\":{}", name, value);
  }
  if (!complete_) {
    SALLYPORT_CO_CHECK_OK(co_await on_event(
        {.name = "message_delta",
         .data = fmt::format(R"({{"type":"message_delta","delta":{{{}}}}})",
                             std::string_view(delta).substr(delta.empty() ? 0 : 1))},
        left));
    // A body may lack a stop reason, and its last call is decided nevertheless.
    SALLYPORT_CO_CHECK_OK(
        co_await on_event({.name = "message_stop", .data = R"({"type":"message_stop"})"}, left));
  }
  complete_ = true;
  Splice edits = hit ? edits_without(*hit) : Splice();
  edit_elements(edits, came, left.blocks);
  for (const std::string_view name : kStopMembers) {
    const std::string pointer = pointer_to("", name);
    const std::string_view before = value_at(body, pointer);
    const std::string_view after = value_at(left.delta, pointer);
    if (after.empty() || after == before) continue;
    if (before.empty()) {
      edits.append("", fmt::format("\"{}\":{}", name, after));
    } else {
      edits.replace(pointer, std::string(after));
    }
  }
  co_return edits.applied(body);
}

}  // namespace sallyport::llm
