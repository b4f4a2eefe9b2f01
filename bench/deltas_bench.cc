// Measures the cost of one delta of a model inside the proxy: from the bytes of the provider's
// connection to the bytes for the client, without sockets and the ledger.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/try.h"
#include "bench/bench.h"
#include "guardrails/check/guardrails.h"
#include "guards/guardrail_texts.h"
#include "llm/answer_adapter.h"
#include "net/http_parser.h"
#include "net/sse_parser.h"

namespace sallyport::bench {

namespace {

constexpr std::size_t kDeltas = 200;
constexpr std::size_t kAtOnce = 10;  // deltas in one read

// The checks of `output` on each channel, as the proxy's door runs them. Every call passes.
class TextDoor final : public llm::MessageDoor {
 public:
  explicit TextDoor(const core::StreamGuard* guard) : guard_(guard) {}

  core::PassedText push(const llm::ChannelId& channel, std::string_view delta) override {
    if (guard_ == nullptr) return untouched(delta);
    auto& text = channels_[channel];
    if (!text) text = guard_->arm(core::TextStage::Output, std::nullopt);
    return text->push(delta);
  }
  core::PassedText finish(const llm::ChannelId& channel) override {
    const auto found = channels_.find(channel);
    return found == channels_.end() ? core::PassedText{} : found->second->finish();
  }
  core::PassedText whole(const llm::ChannelId&, std::string_view text) override {
    return untouched(text);
  }
  core::PassedText signed_block(const llm::ChannelId&, std::string_view text) override {
    return untouched(text);
  }
  bool enforces_output() const override { return guard_ != nullptr; }
  bool holds_calls() const override { return true; }
  Async<llm::CallRuling> decide(llm::ProposedCall) override { co_return llm::CallRuling{}; }
  std::string drop(const std::string&, const std::string&, std::string) override { return {}; }
  void note_unknown(std::string) override {}
  void note_unread(std::string, std::string) override {}
  void note_degraded(std::string) override {}
  void note_change() override {}

 private:
  static core::PassedText untouched(std::string_view text) {
    core::PassedText passed;
    passed.pieces.push_back({0, text.size(), std::string(text), false});
    return passed;
  }

  const core::StreamGuard* guard_;
  std::map<llm::ChannelId, std::unique_ptr<core::GuardedText>> channels_;
};

class TextDoors final : public llm::MessageDoors {
 public:
  explicit TextDoors(const core::StreamGuard* guard) : guard_(guard) {}
  std::unique_ptr<llm::MessageDoor> open(std::uint64_t) override {
    return std::make_unique<TextDoor>(guard_);
  }

 private:
  const core::StreamGuard* guard_;
};

class Written final : public llm::EventSink {
 public:
  void event(std::string_view, std::string_view data) override {
    bytes.append("data: ").append(data).append("\n\n");
  }
  void last(std::string_view name, std::string_view data) override { event(name, data); }
  std::string bytes;
};

// The deltas of bench/model_provider.mjs.
std::string delta_text(std::size_t i) {
  static constexpr std::string_view kWords[] = {
      "the ",      "model ", "answers ", "with ",    "a ",       "project ", "plan, ",  "and ",
      "user42 ",   "asks ",  "for ",     "2026-11 ", "numbers ", "in ",      "order: ", "3, ",
      "previous ", "lines ", "ignore ",  "empty ",   "fields. ", "Sky ",     "AK ",     "write "};
  return std::string(kWords[i * 7 % std::size(kWords)]);
}

std::string frame_of(llm::Api api, std::size_t i) {
  const std::string text = delta_text(i);
  switch (api) {
    case llm::Api::AnthropicMessages:
      return fmt::format(
          "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,"
          "\"delta\":{{\"type\":\"text_delta\",\"text\":\"{}\"}}}}\n\n",
          text);
    case llm::Api::OpenAiChat:
      return fmt::format(
          "data: {{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1,"
          "\"model\":\"bench\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}},"
          "\"finish_reason\":null}}]}}\n\n",
          text);
    case llm::Api::OpenAiResponses:
      return fmt::format(
          "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\","
          "\"sequence_number\":{},\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,"
          "\"delta\":\"{}\",\"logprobs\":[],\"obfuscation\":\"{}\"}}\n\n",
          4 + i, text, std::string(1 + i % 13, 'x'));
  }
  return {};
}

// The events before the deltas.
std::string beginning_of(llm::Api api) {
  switch (api) {
    case llm::Api::AnthropicMessages:
      return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\","
             "\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"c\","
             "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,"
             "\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":"
             "\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":"
             "\"\"}}\n\n";
    case llm::Api::OpenAiChat:
      return "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1,"
             "\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","
             "\"content\":\"\"},\"finish_reason\":null}]}\n\n";
    case llm::Api::OpenAiResponses:
      return "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,"
             "\"response\":{\"id\":\"r\",\"object\":\"response\",\"status\":\"in_progress\","
             "\"output\":[]}}\n\nevent: response.in_progress\ndata: {\"type\":"
             "\"response.in_progress\",\"sequence_number\":1,\"response\":{\"id\":\"r\",\"object\":"
             "\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\nevent: "
             "response.output_item.added\ndata: {\"type\":\"response.output_item.added\","
             "\"sequence_number\":2,\"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":"
             "\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]}}\n\n"
             "event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\","
             "\"sequence_number\":3,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,"
             "\"part\":{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[]}}\n\n";
  }
  return {};
}

std::string chunked(const std::string& bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

// The reads of one stream without its end: each event is a chunk.
std::vector<std::string> reads_of(llm::Api api) {
  std::vector<std::string> reads{
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n" +
      chunked(beginning_of(api))};
  for (std::size_t i = 0; i < kDeltas; ++i) {
    if (i % kAtOnce == 0) reads.emplace_back();
    reads.back() += chunked(frame_of(api, i));
  }
  return reads;
}

Async<std::size_t> stream(llm::Api api, const std::vector<std::string>& reads,
                          const core::StreamGuard* guard) {
  TextDoors doors(guard);
  const auto adapter = llm::answer_adapter(api, doors, {});
  net::HttpParser http(32u << 10);
  net::SseParser sse(16u << 20);
  Written out;
  std::size_t bytes = 0;
  for (const std::string& read : reads) {
    SALLYPORT_INVARIANT(http.feed(read).has_value());
    sse.feed(http.take_body());
    while (const net::SseEvent* const event = sse.next()) {
      SALLYPORT_INVARIANT((co_await adapter->on_event(*event, out)).has_value());
    }
    bytes += out.bytes.size();
    out.bytes.clear();
  }
  co_return bytes;
}

std::shared_ptr<const core::StreamGuard> patterns() {
  json::array list{"AKIA[0-9A-Z]{16}",
                   "ghp_[0-9A-Za-z]{36}",
                   "sk-[0-9A-Za-z]{20,48}",
                   "(?i)ignore (?:all )?previous instructions",
                   "(?i)password\\s{0,4}[:=]\\s{0,4}[^\\s]{6,40}",
                   "[a-z0-9._]{1,32}@[a-z0-9-]{1,32}\\.[a-z]{2,8}"};
  for (std::size_t i = 0; list.size() < 64; ++i) {
    list.push_back(json::value(
        fmt::format("(?i)project {}nightingale{}", static_cast<char>('a' + i % 26), i * 7919)));
  }
  const json::object document{{"checks",
                               {{{"type", "regex"},
                                 {"stage", "output"},
                                 {"on_fail", "redact"},
                                 {"patterns", std::move(list)}}}}};
  auto read = guardrails::read_document(json::serialize(document));
  SALLYPORT_INVARIANT(read.has_value());
  auto compiled = guardrails::Guardrails::compile(std::move(*read), 1, nullptr);
  SALLYPORT_INVARIANT(compiled.has_value());
  return std::make_shared<const guards::GuardrailTexts>(std::move(*compiled));
}

void run_streams(llm::Api api, std::size_t count, const core::StreamGuard* guard) {
  const std::vector<std::string> reads = reads_of(api);
  boost::asio::io_context loop;
  boost::asio::co_spawn(
      loop,
      [&]() -> Async<void> {
        for (std::size_t i = 0; i < count; ++i) {
          SALLYPORT_INVARIANT(co_await stream(api, reads, guard) > kDeltas);
        }
      },
      boost::asio::detached);
  loop.run();
}

}  // namespace

void measure_deltas(Report& report, bool quick) {
  report.section("a delta inside the model proxy, from bytes to bytes (no sockets, no ledger)");
  const std::size_t count = quick ? 20 : 500;
  const auto guard = patterns();
  for (const llm::Api api :
       {llm::Api::OpenAiChat, llm::Api::AnthropicMessages, llm::Api::OpenAiResponses}) {
    for (const core::StreamGuard* const armed :
         {static_cast<const core::StreamGuard*>(nullptr), guard.get()}) {
      run_streams(api, 2, armed);
      const double time = processor_seconds_of([&] { run_streams(api, count, armed); });
      report.row(fmt::format("{}, {}", llm::to_string(api), armed ? "64 patterns" : "no check"),
                 fmt::format("{:.2f} us", time / static_cast<double>(count * kDeltas) * 1e6));
    }
  }
}

void run_deltas(std::size_t streams, const std::string& api, bool armed) {
  const auto guard = patterns();
  for (const llm::Api one :
       {llm::Api::OpenAiChat, llm::Api::AnthropicMessages, llm::Api::OpenAiResponses}) {
    if (llm::to_string(one) == api) run_streams(one, streams, armed ? guard.get() : nullptr);
  }
}

}  // namespace sallyport::bench
