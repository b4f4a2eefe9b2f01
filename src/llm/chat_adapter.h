// The chat completions API of OpenAI and of compatible servers. Each choice is a message of its
// own. A chunk with several choices passes as one chunk for each choice.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/answer_adapter.h"
#include "llm/json_splice.h"
#include "llm/json_strings.h"
#include "llm/repeated_delta.h"
#include "llm/text_offsets.h"
#include "llm/wire_json.h"
#include "sallyport/json.h"

namespace sallyport::llm {

class ChatAdapter : public AnswerAdapter {
 public:
  ChatAdapter(MessageDoors& doors, AnswerSettings settings) : doors_(doors), settings_(settings) {}

  Task<void> on_event(const net::SseEvent& event, EventSink& out) override;
  Task<void> on_end(EventSink& out) override;
  Task<std::string> on_body(std::string body) override;
  void keep_alive(EventSink& out) override;
  void fail(EventSink& out, const ApiError& error) override;
  bool complete() const override { return complete_; }
  const Observed& observed() const override { return observed_; }

 private:
  struct Call {
    std::string id{};
    std::string type{};  // `function`, `custom`, or `function_call` of the old form
    std::string name{};
    std::string arguments{};
    enum class Fate : std::uint8_t { Pass, Rewrite, Absent };
    Fate fate = Fate::Pass;
    std::string rewritten{};      // new arguments
    bool rewritten_sent = false;  // its one chunk has left
  };
  using CallKey = std::uint64_t;
  static constexpr CallKey kOldCall = ~CallKey{0};  // `function_call` has no index

  // A waiting chunk with parts of calls. `more` holds arguments that came after it.
  struct Held {
    std::string data;
    CallKey call = 0;
    std::string name{};  // name of its event
    std::string more{};
  };

  struct Choice {
    std::uint64_t index = 0;
    std::unique_ptr<MessageDoor> door;
    bool over = false;      // its end has left
    bool blocked = false;   // a check ended it
    bool has_role = false;  // the role has left
    bool lost_logprobs = false;
    bool has_audio = false;                                    // the record lists its audio
    std::map<std::string, ChannelId, std::less<>> channels{};  // of members that carry text
    std::optional<JsonStrings> strings{};
    TextOffsets offsets{};
    std::vector<std::string> annotations{};  // chunks that wait for the text they point into
    std::map<CallKey, Call> calls{};
    std::vector<Held> held{};
    std::size_t held_bytes = 0;
    std::size_t argument_bytes = 0;
    std::size_t call_parts = 0;  // received parts
    bool refused = false;        // one of its calls was refused
  };

  // A chunk that waits behind a held call. Without checks of the output the order of chunks never
  // changes, so chunks of other choices wait too (MP-8).
  struct Queued {
    std::string data{};
    std::string name{};                     // name of its event
    std::optional<std::uint64_t> choice{};  // set if a call of this choice waits here
    std::size_t held = 0;                   // index in `held` of that choice
  };

  // A chunk with one choice.
  struct Chunk {
    std::string_view data;
    const json::value& value;
    const json::value& choice;
    const json::value& delta;
  };

  // chat_adapter.cc
  Task<void> take_chunk(std::string_view data, const json::value& value, EventSink& out);
  Task<void> take_apart(std::string_view data, const json::value& value, EventSink& out);
  static bool is_known_of_answer(std::string_view name);
  bool pass_top_members(const json::value& value, EventSink& out);
  void take_head(std::string_view data, const json::value& value);
  void take_usage(const json::value& value);
  Splice without_usage(const json::value& value) const;
  Result<Choice*> choice_at(const json::value& choice);
  MessageDoor& any_door();
  // `name` is that of the provider's event; our own chunks have none.
  void put(std::string_view data, EventSink& out, std::string_view name = {});
  void put_call(const Choice& choice, std::size_t held, std::string_view data, EventSink& out);
  void forget_calls(const Choice& choice, EventSink& out);
  void flush(EventSink& out);
  void put_last(std::string_view name, std::string_view data, EventSink& out);
  void end_blocked(Choice& choice, const core::TextBlock& block, EventSink& out);
  void close(Choice& choice, std::string_view reason);
  void end_all(const core::TextBlock& block, EventSink& out);
  std::string chunk_of(const Choice& choice, std::string_view delta,
                       std::string_view finish_reason = "null") const;
  void send_text(Choice& choice, std::string_view member, std::string_view text, EventSink& out);

  // chat_choice.cc
  // Members of a delta or message that carry text, in the order in which models write them.
  struct TextMember {
    std::string_view name;
    ChannelId channel;
  };
  static const std::array<TextMember, 5>& text_members();
  static std::string_view text_of(const json::value& message, std::string_view member);
  static bool is_unknown(std::string_view name, const json::value& value);
  static bool is_unknown_of_choice(std::string_view name, std::string_view holder);
  static std::vector<std::pair<std::string_view, const json::value*>> unknown_of_calls(
      const json::value& message);
  Task<void> take_choice(Chunk chunk, EventSink& out);
  // The texts of a chunk while they are checked.
  struct Texts {
    bool holds = false;                                       // one text waits completely
    std::vector<std::pair<std::string, std::string>> left{};  // member and its released text
    std::optional<core::TextBlock> block{};
  };
  // Passes a chunk that differs from an earlier one only in its `content`. False: it does not.
  bool pass_repeated(std::string_view data, EventSink& out);
  void learn(Choice& choice, const Chunk& chunk);
  bool is_repeatable(const Chunk& chunk) const;
  Result<void> take_late(Choice& choice, const Chunk& chunk, EventSink& out);
  std::optional<core::TextBlock> unknown_hit(Choice& choice, const Chunk& chunk);
  static void note_audio(Choice& choice, const json::value& message);
  void hide_logprobs(Choice& choice, const Chunk& chunk, Splice& edits);
  Texts pass_texts(Choice& choice, const Chunk& chunk, Splice& edits);
  Texts finish_texts(Choice& choice);
  void pass_annotations(Choice& choice, const Chunk& chunk, Splice& edits, Texts& texts);
  void release_annotations(Choice& choice, Texts& texts, EventSink& out);
  bool points_behind(const Choice& choice, const json::array& annotations) const;
  CheckedLeaves fit_annotations(Choice& choice, const json::array& annotations,
                                const std::string& pointer);
  core::PassedText push(Choice& choice, std::string_view member, std::string_view text);
  core::PassedText finish(Choice& choice, std::string_view member);
  Task<void> finish_choice(Choice& choice, Chunk chunk, Splice edits, Texts texts, EventSink& out);
  Result<void> finish_open(EventSink& out);
  void send(Choice& choice, const Chunk& chunk, const Splice& edits, EventSink& out);
  void send_texts(Choice& choice, const Texts& texts, EventSink& out);

  // chat_calls.cc
  // True: the chunk waits, and nothing of it leaves now.
  Result<bool> take_calls(Choice& choice, const Chunk& chunk, Splice& edits, bool has_text);
  Result<void> add_calls(Choice& choice, const json::value& message, bool whole);
  Result<void> add_call(Choice& choice, CallKey key, const json::value& part);
  static Result<void> take_word(const Choice& choice, std::string& word, std::string_view came);
  static Result<const json::value*> body_of(const Choice& choice, Call& call,
                                            const json::value& part);
  Result<void> hold(Choice& choice, std::string data, const Chunk& chunk);
  Async<std::vector<std::string>> decide_calls(Choice& choice, std::string_view finish_reason);
  Async<void> record_calls(Choice& choice);
  void send_calls(Choice& choice, EventSink& out);
  static Splice call_edits(Choice& choice, const json::value& delta);
  static bool has_call_left(const Choice& choice);
  static std::string_view sent_reason(const Choice& choice, std::string_view reason);
  static Result<ProposedCall> proposed(const Call& call);

  // chat_body.cc
  struct BodyChoice {
    Choice& choice;
    std::string path;  // in the body
    const json::value& value;
    const json::value& message;
    // The released text of each member that carries text.
    std::map<std::string, std::string, std::less<>> texts{};
  };
  std::optional<core::TextBlock> pass_body_members(const json::value& value, Splice& edits);
  Async<void> pass_body_choice(BodyChoice& body, std::optional<core::TextBlock> block,
                               Splice& edits);
  std::optional<core::TextBlock> pass_body_texts(BodyChoice& body);
  std::optional<core::TextBlock> pass_body_others(BodyChoice& body, Splice& edits);
  Async<void> pass_body_calls(BodyChoice& body, Splice& edits);
  void end_blocked_body(BodyChoice& body, const core::TextBlock& block, Splice& edits);
  static void write_texts(const BodyChoice& body, Splice& edits);

  MessageDoors& doors_;
  AnswerSettings settings_;
  Observed observed_;
  std::string name_;  // name of the current event
  bool head_is_of_choice_ = false;
  std::string head_;  // a chunk without choices, the template of our own chunks
  std::map<std::uint64_t, Choice> choices_;
  RepeatedDelta repeated_;
  Choice* repeated_choice_ = nullptr;  // the choice with the chunks that `repeated_` knows
  std::deque<Queued> queue_;
  std::size_t queue_bytes_ = 0;
  bool complete_ = false;
  bool failed_ = false;
};

}  // namespace sallyport::llm
