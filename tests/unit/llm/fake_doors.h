// Doors with trivial exact checks, a sink that collects, and a provider that sends a text in
// pieces, for tests of adapters.
//
// `SECRET` becomes `[redacted]`, `FORBIDDEN` blocks with the notice `[withheld]`, and the end of a
// text that may begin one of them waits. A call of `refused_tool` is refused with `[refused]`,
// `rewritten_tool` gets the input `{"safe":true}`, other calls pass.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/answer_adapter.h"
#include "llm/message_door.h"
#include "net/sse_parser.h"
#include "support/governed.h"

namespace sallyport::llm::test {

struct DoorFlags {
  bool enforces_output = true;  // false: no text is checked
  bool holds_calls = true;      // false: calls are only recorded
};

// The requests of adapters to the doors of one answer.
struct Asked {
  struct Text {
    ChannelId channel;
    std::string text;
    bool operator==(const Text&) const = default;
  };
  std::vector<Text> pushed;  // one for each push
  std::vector<ChannelId> finished;
  std::vector<Text> whole;
  std::vector<ProposedCall> decided;
  std::vector<std::pair<std::string, std::string>> dropped;  // id of the call, reason
  std::vector<std::string> unknown;
  std::vector<std::pair<std::string, std::string>> unread;  // path, kind
  std::vector<std::string> degraded;
  std::size_t changes = 0;
  std::vector<std::uint64_t> opened;  // indices of messages
};

class FakeDoor : public MessageDoor {
 public:
  FakeDoor(DoorFlags flags, Asked& asked, const std::function<void()>& while_deciding)
      : flags_(flags), asked_(asked), while_deciding_(while_deciding) {}

  core::PassedText push(const ChannelId& channel, std::string_view delta) override {
    asked_.pushed.push_back({channel, std::string(delta)});
    State& state = states_[channel];
    state.waiting += delta;
    return take(state, false);
  }

  core::PassedText finish(const ChannelId& channel) override {
    asked_.finished.push_back(channel);
    return take(states_[channel], true);
  }

  core::PassedText whole(const ChannelId& channel, std::string_view text) override {
    asked_.whole.push_back({channel, std::string(text)});
    State state{.waiting = std::string(text)};
    return take(state, true);
  }

  core::PassedText signed_block(const ChannelId& channel, std::string_view text) override {
    asked_.whole.push_back({channel, std::string(text)});
    State state{.waiting = std::string(text)};
    core::PassedText passed = take(state, true);
    blocked_ = blocked_ && !passed.block;
    return passed;
  }

  bool enforces_output() const override { return flags_.enforces_output; }
  bool holds_calls() const override { return flags_.holds_calls; }

  Async<CallRuling> decide(ProposedCall call) override {
    if (while_deciding_) while_deciding_();
    const std::string name = call.name;
    asked_.decided.push_back(std::move(call));
    CallRuling ruling;
    if (!flags_.holds_calls) co_return ruling;
    if (name == "refused_tool") {
      ruling.kind = CallRuling::Kind::Refuse;
      ruling.notice = "[refused]";
    } else if (name == "rewritten_tool") {
      ruling.kind = CallRuling::Kind::Rewrite;
      ruling.input = json::object{{"safe", true}};
    }
    co_return ruling;
  }

  std::string drop(const std::string& id, const std::string&, std::string why) override {
    asked_.dropped.emplace_back(id, std::move(why));
    return "[dropped]";
  }

  void note_unknown(std::string type) override { asked_.unknown.push_back(std::move(type)); }
  void note_unread(std::string path, std::string kind) override {
    asked_.unread.emplace_back(std::move(path), std::move(kind));
  }
  void note_degraded(std::string what) override { asked_.degraded.push_back(std::move(what)); }
  void note_change() override { ++asked_.changes; }

 private:
  struct State {
    std::string waiting{};
    std::uint64_t offset = 0;  // of `waiting` in the source
  };
  static constexpr std::array<std::string_view, 2> kWords{"SECRET", "FORBIDDEN"};

  static void pass(core::PassedText& out, State& state, std::size_t length,
                   const char* replacement = nullptr) {
    if (length == 0) return;
    out.pieces.push_back({.start = state.offset,
                          .end = state.offset + length,
                          .text = replacement ? replacement : state.waiting.substr(0, length),
                          .replaced = replacement != nullptr});
    state.waiting.erase(0, length);
    state.offset += length;
  }

  // Returns how much of the end may be the beginning of a word.
  static std::size_t held(std::string_view text) {
    std::size_t longest = 0;
    for (const std::string_view word : kWords) {
      for (std::size_t length = 1; length < word.size(); ++length) {
        if (text.ends_with(word.substr(0, length))) longest = std::max(longest, length);
      }
    }
    return longest;
  }

  core::PassedText take(State& state, bool end) {
    core::PassedText out;
    if (blocked_) return out;
    while (flags_.enforces_output) {
      const std::size_t secret = state.waiting.find(kWords[0]);
      const std::size_t forbidden = state.waiting.find(kWords[1]);
      if (secret == forbidden) break;  // neither
      pass(out, state, std::min(secret, forbidden));
      if (forbidden < secret) {
        blocked_ = true;
        out.block = core::TextBlock{.notice = "[withheld]",
                                    .reason = "word FORBIDDEN",
                                    .check = "words",
                                    .reason_code = "guardrail.blocklist"};
        return out;
      }
      pass(out, state, kWords[0].size(), "[redacted]");
    }
    const std::size_t waits = end || !flags_.enforces_output ? 0 : held(state.waiting);
    pass(out, state, state.waiting.size() - waits);
    return out;
  }

  DoorFlags flags_;
  Asked& asked_;
  const std::function<void()>& while_deciding_;
  std::map<ChannelId, State> states_;
  bool blocked_ = false;
};

class FakeDoors : public MessageDoors {
 public:
  explicit FakeDoors(DoorFlags flags = {}) : flags_(flags) {}

  std::unique_ptr<MessageDoor> open(std::uint64_t index) override {
    asked.opened.push_back(index);
    return std::make_unique<FakeDoor>(flags_, asked, while_deciding);
  }

  Asked asked;
  std::function<void()> while_deciding;  // runs before each decision

 private:
  DoorFlags flags_;
};

struct SentEvent {
  std::string name;
  std::string data;
  bool last = false;

  bool operator==(const SentEvent&) const = default;
};

inline void PrintTo(const SentEvent& event, std::ostream* out) {
  *out << (event.last ? "last " : "") << event.name << " " << event.data;
}

class CollectingSink : public EventSink {
 public:
  void event(std::string_view name, std::string_view data) override {
    events.push_back({std::string(name), std::string(data), false});
  }
  void last(std::string_view name, std::string_view data) override {
    events.push_back({std::string(name), std::string(data), true});
  }

  std::vector<SentEvent> events;
};

// Sends `sse` in pieces of `piece` bytes, the first of `first` bytes (0: like the others), then the
// end of the stream. Stops at the first error, and once the adapter is complete.
inline Result<void> feed(AnswerAdapter& adapter, EventSink& out, std::string_view sse,
                         std::size_t piece = std::string_view::npos, std::size_t first = 0) {
  net::SseParser parser(std::size_t{16} * 1024 * 1024);
  std::size_t next = first == 0 ? piece : first;
  while (!sse.empty()) {
    parser.feed(sse.substr(0, next));
    sse.remove_prefix(std::min(next, sse.size()));
    next = piece;
    while (auto event = parser.next()) {
      if (adapter.complete()) return {};
      auto taken = sallyport::test::run_now(adapter.on_event(*event, out));
      if (!taken) return taken;
    }
  }
  if (adapter.complete()) return {};
  return sallyport::test::run_now(adapter.on_end(out));
}

}  // namespace sallyport::llm::test
