// Streams of providers, well-formed or not, through the adapters of the model APIs: equal events
// for every cut, nothing after the last frame, each event is JSON, and no sent text contains a word
// that was found.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.h"
#include "llm/answer_adapter.h"
#include "llm/wire_json.h"
#include "net/sse_parser.h"

namespace {

using namespace sallyport;
using namespace sallyport::llm;

constexpr std::string_view kHidden = "SECRET";
constexpr std::string_view kEnding = "FORBIDDEN";

// Holds the last bytes of a text, hides one word and ends at the other.
class WordDoor : public MessageDoor {
 public:
  WordDoor(bool enforces, bool holds) : enforces_(enforces), holds_(holds) {}

  core::PassedText push(const ChannelId& channel, std::string_view delta) override {
    Text& text = texts_[channel];
    text.waiting += delta;
    return take(text, false);
  }
  core::PassedText finish(const ChannelId& channel) override { return take(texts_[channel], true); }
  core::PassedText whole(const ChannelId&, std::string_view text) override {
    Text made{.waiting = std::string(text)};
    return take(made, true);
  }
  core::PassedText signed_block(const ChannelId& channel, std::string_view text) override {
    core::PassedText passed = whole(channel, text);
    if (passed.block) over_ = false;
    return passed;
  }
  bool enforces_output() const override { return enforces_; }
  bool holds_calls() const override { return holds_; }
  Async<CallRuling> decide(ProposedCall call) override {
    CallRuling ruling;
    if (holds_ && call.name.starts_with('r')) {
      ruling = {.kind = CallRuling::Kind::Refuse, .notice = "no"};
    }
    if (holds_ && call.name.starts_with('w')) {
      ruling.kind = CallRuling::Kind::Rewrite;
      ruling.input = json::object{{"input", "safe"}};
    }
    co_return ruling;
  }
  std::string drop(const std::string&, const std::string&, std::string why) override { return why; }
  void note_unknown(std::string) override {}
  void note_unread(std::string, std::string) override {}
  void note_degraded(std::string) override {}
  void note_change() override {}

 private:
  struct Text {
    std::string waiting{};
    std::uint64_t offset = 0;
  };

  static void pass(core::PassedText& out, Text& text, std::size_t length, bool hides) {
    if (length == 0) return;
    out.pieces.push_back(
        {text.offset, text.offset + length, hides ? "[x]" : text.waiting.substr(0, length), hides});
    text.waiting.erase(0, length);
    text.offset += length;
  }

  core::PassedText take(Text& text, bool end) {
    core::PassedText out;
    if (over_) return out;
    while (enforces_) {
      const std::size_t hidden = text.waiting.find(kHidden);
      const std::size_t ending = text.waiting.find(kEnding);
      if (hidden == ending) break;
      pass(out, text, std::min(hidden, ending), false);
      if (ending < hidden) {
        over_ = true;
        out.block = core::TextBlock{.notice = "over"};
        return out;
      }
      pass(out, text, kHidden.size(), true);
    }
    const std::size_t waits = end || !enforces_ ? 0 : kEnding.size() - 1;
    pass(out, text, text.waiting.size() - std::min(waits, text.waiting.size()), false);
    return out;
  }

  bool enforces_;
  bool holds_;
  bool over_ = false;
  std::map<ChannelId, Text> texts_;
};

class WordDoors : public MessageDoors {
 public:
  WordDoors(bool enforces, bool holds) : enforces_(enforces), holds_(holds) {}
  std::unique_ptr<MessageDoor> open(std::uint64_t) override {
    return std::make_unique<WordDoor>(enforces_, holds_);
  }

 private:
  bool enforces_;
  bool holds_;
};

class Frames : public EventSink {
 public:
  void event(std::string_view name, std::string_view data) override { add(name, data); }
  void last(std::string_view name, std::string_view data) override {
    add(name, data);
    over = true;
  }

  std::vector<std::pair<std::string, std::string>> all;
  bool over = false;

 private:
  void add(std::string_view name, std::string_view data) {
    SALLYPORT_INVARIANT(!over);
    SALLYPORT_INVARIANT(data == "[DONE]" || read_wire_json(data));
    all.emplace_back(name, data);
  }
};

template <class T>
T finished(Async<T> work) {
  boost::asio::io_context loop;
  std::optional<T> result;
  boost::asio::co_spawn(loop, std::move(work), [&](std::exception_ptr thrown, T made) {
    if (thrown) std::rethrow_exception(thrown);
    result = std::move(made);
  });
  loop.run();
  return std::move(*result);
}

struct Way {
  Api api = Api::AnthropicMessages;
  AnswerSettings settings{};
  bool enforces = true;
  bool holds = true;
};

Frames stream(const Way& way, std::string_view bytes, std::size_t piece) {
  WordDoors doors(way.enforces, way.holds);
  const auto adapter = answer_adapter(way.api, doors, way.settings);
  net::SseParser parser(std::size_t{1} << 20);
  Frames out;
  std::optional<Error> failed;
  for (std::size_t at = 0; at < bytes.size() && !failed && !adapter->complete(); at += piece) {
    parser.feed(bytes.substr(at, piece));
    while (!failed && !adapter->complete()) {
      const auto event = parser.next();
      if (!event) break;
      const Result<void> taken = finished(adapter->on_event(*event, out));
      if (!taken) failed = taken.error();
    }
  }
  if (!failed && !adapter->complete()) {
    const Result<void> ended = finished(adapter->on_end(out));
    if (!ended) failed = ended.error();
  }
  if (failed) {
    adapter->keep_alive(out);
    adapter->fail(out, {.status = 502, .message = "failed"});
  }
  SALLYPORT_INVARIANT(out.over && adapter->complete());
  return out;
}

// No text of a client contains the words that were found.
void check_words(const Way& way, const Frames& out) {
  if (!way.enforces) return;
  std::map<std::string, std::string> texts;
  for (const auto& [name, data] : out.all) {
    const Result<ParsedJson> event = read_wire_json(data);
    if (!event) continue;
    if (way.api == Api::AnthropicMessages &&
        text_in(event->value, "type") == "content_block_delta") {
      const json::value* const delta = member_of(event->value, "delta");
      if (delta == nullptr || text_in(*delta, "type") != "text_delta") continue;
      texts[std::string(value_at(data, "/index"))] += text_in(*delta, "text");
    }
    const json::array* const choices = array_in(event->value, "choices");
    if (way.api != Api::OpenAiChat || choices == nullptr) continue;
    for (const json::value& choice : *choices) {
      const json::value* const delta = member_of(choice, "delta");
      const json::value* const index = member_of(choice, "index");
      if (delta != nullptr && index != nullptr) {
        texts[json::serialize(*index)] += text_in(*delta, "content");
      }
    }
  }
  for (const auto& [place, text] : texts) {
    SALLYPORT_INVARIANT(text.find(kHidden) == std::string::npos);
    SALLYPORT_INVARIANT(text.find(kEnding) == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 20'000) return 0;
  Way way;
  way.api = static_cast<Api>(data[0] % 3);
  way.enforces = (data[1] & 1) == 0;
  way.holds = (data[1] & 2) == 0;
  way.settings = {.end_on_signed_hit = (data[1] & 4) != 0,
                  .block_as_answer = (data[1] & 8) != 0,
                  .json_format = (data[1] & 16) != 0,
                  .choices = (data[1] & 32) != 0 ? 3u : 1u,
                  .hides_usage = (data[1] & 64) != 0};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Frames whole = stream(way, bytes, bytes.size() + 1);
  check_words(way, whole);
  SALLYPORT_INVARIANT(stream(way, bytes, 7).all == whole.all);
  // The same bytes as a whole body.
  WordDoors doors(way.enforces, way.holds);
  const auto adapter = answer_adapter(way.api, doors, way.settings);
  const Result<std::string> body = finished(adapter->on_body(std::string(bytes)));
  SALLYPORT_INVARIANT(!body || read_wire_json(*body));
  return 0;
}
