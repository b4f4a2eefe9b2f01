// Streams of OpenAI Responses, well-formed or not, through their adapter: the output is JSON with
// gapless numbers, contains no text that a check withholds, has nothing after the last event, and
// is the same for every way of cutting the bytes.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.h"
#include "llm/answer_adapter.h"
#include "llm/wire_json.h"
#include "net/sse_parser.h"

namespace {

using namespace sallyport;
using namespace sallyport::llm;

constexpr std::string_view kWord = "SECRET";

// Redacts one word, blocks at `!!`, and refuses calls of tools whose name begins with `r`.
class WordDoor final : public MessageDoor {
 public:
  explicit WordDoor(bool checks) : checks_(checks) {}

  core::PassedText push(const ChannelId& channel, std::string_view delta) override {
    Waiting& waiting = waiting_[channel];
    waiting.text += delta;
    return take(waiting, false);
  }
  core::PassedText finish(const ChannelId& channel) override {
    return take(waiting_[channel], true);
  }
  core::PassedText whole(const ChannelId&, std::string_view text) override {
    Waiting waiting{.text = std::string(text)};
    return take(waiting, true);
  }
  core::PassedText signed_block(const ChannelId& channel, std::string_view text) override {
    return whole(channel, text);
  }
  bool enforces_output() const override { return checks_; }
  bool holds_calls() const override { return checks_; }
  Async<CallRuling> decide(ProposedCall call) override {
    CallRuling ruling;
    if (call.name.starts_with("r")) {
      ruling.kind = CallRuling::Kind::Refuse;
      ruling.notice = "refused";
    } else if (call.name.starts_with("w")) {
      ruling.kind = CallRuling::Kind::Rewrite;
      ruling.input = json::object{{"input", "new"}};
    }
    co_return ruling;
  }
  std::string drop(const std::string&, const std::string&, std::string) override {
    return "dropped";
  }
  void note_unknown(std::string) override {}
  void note_unread(std::string, std::string) override {}
  void note_degraded(std::string) override {}
  void note_change() override {}

 private:
  struct Waiting {
    std::string text{};
    std::uint64_t at = 0;
  };

  static void pass(core::PassedText& out, Waiting& waiting, std::size_t length, bool replaced) {
    if (length == 0) return;
    out.pieces.push_back({.start = waiting.at,
                          .end = waiting.at + length,
                          .text = replaced ? "[]" : waiting.text.substr(0, length),
                          .replaced = replaced});
    waiting.text.erase(0, length);
    waiting.at += length;
  }

  core::PassedText take(Waiting& waiting, bool end) {
    core::PassedText out;
    if (blocked_) return out;
    while (checks_) {
      const std::size_t word = waiting.text.find(kWord);
      const std::size_t block = waiting.text.find("!!");
      if (word == block) break;
      pass(out, waiting, std::min(word, block), false);
      if (block < word) {
        blocked_ = true;
        out.block = core::TextBlock{.notice = "blocked"};
        return out;
      }
      pass(out, waiting, kWord.size(), true);
    }
    std::size_t held = 0;
    for (std::size_t length = 1; checks_ && !end && length < kWord.size(); ++length) {
      if (waiting.text.ends_with(kWord.substr(0, length))) held = length;
    }
    if (checks_ && !end && waiting.text.ends_with("!")) held = 1;
    pass(out, waiting, waiting.text.size() - held, false);
    return out;
  }

  bool checks_;
  bool blocked_ = false;
  std::map<ChannelId, Waiting> waiting_;
};

class WordDoors final : public MessageDoors {
 public:
  explicit WordDoors(bool checks) : checks_(checks) {}
  std::unique_ptr<MessageDoor> open(std::uint64_t) override {
    return std::make_unique<WordDoor>(checks_);
  }

 private:
  bool checks_;
};

class CheckingSink final : public EventSink {
 public:
  explicit CheckingSink(bool checks) : checks_(checks) {}
  void event(std::string_view name, std::string_view data) override { take(name, data); }
  void last(std::string_view name, std::string_view data) override {
    take(name, data);
    over_ = true;
  }

  std::vector<std::pair<std::string, std::string>> sent;

 private:
  void take(std::string_view name, std::string_view data) {
    SALLYPORT_INVARIANT(!over_);
    sent.emplace_back(name, data);
    if (data == "[DONE]") return;
    const Result<ParsedJson> parsed = read_wire_json(data);
    SALLYPORT_INVARIANT(parsed && parsed->value.is_object());
    if (!checks_) return;
    const json::value& event = parsed->value;
    if (const auto number = count_in(event, "sequence_number")) {
      // A keep-alive repeats the number of the event before it.
      const bool repeats = text_in(event, "type") == "response.in_progress" && *number + 1 == next_;
      SALLYPORT_INVARIANT(repeats || *number == next_++);
    }
    if (text_in(event, "type") != "response.output_text.delta") return;
    std::string& text = texts_[{count_in(event, "output_index").value_or(0),
                                count_in(event, "content_index").value_or(0)}];
    text += text_in(event, "delta");
    SALLYPORT_INVARIANT(text.find(kWord) == std::string::npos);
  }

  bool checks_;
  bool over_ = false;
  std::uint64_t next_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> texts_;
};

Async<void> feed(AnswerAdapter& adapter, CheckingSink& sink, std::string text, std::size_t piece) {
  net::SseParser parser(4096);
  for (std::size_t at = 0; at < text.size() && !adapter.complete(); at += piece) {
    parser.feed(std::string_view(text).substr(at, piece));
    while (auto event = parser.next()) {
      adapter.keep_alive(sink);
      const Result<void> taken = co_await adapter.on_event(*event, sink);
      if (!taken) {
        adapter.fail(sink, {.message = taken.error().message});
        co_return;
      }
    }
  }
  if (!co_await adapter.on_end(sink)) adapter.fail(sink, {.message = "ended"});
  SALLYPORT_INVARIANT(adapter.complete());
}

template <class Work>
void run(Work work) {
  boost::asio::io_context loop;
  boost::asio::co_spawn(loop, std::move(work), [](std::exception_ptr thrown, auto...) {
    if (thrown) std::rethrow_exception(thrown);
  });
  loop.run();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 16384) return 0;
  const bool checks = (data[0] & 1) != 0;
  const AnswerSettings settings{.block_as_answer = (data[0] & 2) != 0,
                                .json_format = (data[0] & 4) != 0};
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::optional<std::vector<std::pair<std::string, std::string>>> first;
  for (const std::size_t piece : {text.size() + 1, std::size_t{3}}) {
    WordDoors doors(checks);
    CheckingSink sink(checks);
    const auto adapter = responses_adapter(doors, settings);
    run(feed(*adapter, sink, text, piece));
    SALLYPORT_INVARIANT(!first || sink.sent == *first);
    first = std::move(sink.sent);
  }
  WordDoors doors(checks);
  const auto adapter = responses_adapter(doors, settings);
  run([](AnswerAdapter& whole, std::string body) -> Async<void> {
    const Result<std::string> left = co_await whole.on_body(std::move(body));
    if (left) SALLYPORT_INVARIANT(read_wire_json(*left).has_value());
  }(*adapter, text));
  return 0;
}
