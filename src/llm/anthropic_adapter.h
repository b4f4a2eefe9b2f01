// The Messages API of Anthropic. A stream passes event by event. A whole body passes as the events
// of its blocks, so that both forms have the same result (MP-38).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/answer_adapter.h"
#include "llm/json_splice.h"
#include "llm/json_strings.h"
#include "llm/repeated_delta.h"
#include "sallyport/json.h"

namespace sallyport::llm {

class AnthropicAdapter : public AnswerAdapter {
 public:
  AnthropicAdapter(MessageDoors& doors, AnswerSettings settings)
      : doors_(doors), settings_(settings) {}

  Task<void> on_event(const net::SseEvent& event, EventSink& out) override;
  Task<void> on_end(EventSink& out) override;
  Task<std::string> on_body(std::string body) override;
  void keep_alive(EventSink& out) override;
  void fail(EventSink& out, const ApiError& error) override;
  bool complete() const override { return complete_; }
  const Observed& observed() const override { return observed_; }

 private:
  struct Event {
    std::string_view name;  // name of the frame
    std::string_view data;
    const json::value& value;
    bool exact;  // a double can hold every number
    std::string_view type;
  };

  // An event that waits. If many small deltas wait, `more` is the text of those after the first.
  struct Held {
    std::string name;
    std::string data;
    std::string more{};
  };

  struct Block {
    enum class Kind : std::uint8_t { Text, Reasoning, Call, ProviderCall, Other };
    Kind kind = Kind::Other;
    std::string type{};
    std::uint64_t index = 0;       // index of the provider
    std::uint64_t sent_index = 0;  // index that the client sees, after it has begun
    bool begun = false;            // its start has left
    bool holds = false;            // its events wait for its end
    std::vector<Held> held{};
    std::size_t held_bytes = 0;
    std::string last_delta{};  // Text, unsigned Reasoning: the event with the last text
    std::optional<JsonStrings> strings{};
    // Call, ProviderCall
    std::string id{};
    std::string tool{};
    std::string arguments{};  // received in deltas
    json::value input{};      // received at the start
    std::optional<std::string> raw_input{};
    // Reasoning
    std::string text{};
    bool has_signature = false;
  };

  // The member with the text, in a delta and in a block: `text` or `thinking`.
  struct TextPlace {
    std::string_view member;
    std::string_view delta;  // type of the delta
    ChannelKind channel;
  };
  static TextPlace place_of(const Block& block);

  // anthropic_adapter.cc: the message
  Result<void> begin(const Event& event, EventSink& out);
  void open_message(const json::value& message);
  void take_usage(const json::value& holder);
  void take_container(const json::value& holder);
  Task<void> take(Event event, EventSink& out);
  static bool ends_call(const Event& event);
  Result<void> hold_behind(const Event& event);
  Result<void> pass_ping(const Event& event, EventSink& out);
  Result<void> pass_early(const Event& event, EventSink& out);
  Result<void> stop_message(const Event& event, EventSink& out);
  Result<void> end_message(const Event& event, EventSink& out);
  void pass_error(const Event& event, EventSink& out);
  void pass_unknown(const Event& event, EventSink& out);
  void drop_calls(const std::string& why);
  void end_blocked(const core::TextBlock& block, EventSink& out);
  void write_notice(std::string_view notice, EventSink& out);
  json::object usage_at_end() const;
  void note_change(std::string_view notice);

  // anthropic_members.cc: members that the API does not define
  struct UnknownHit {
    std::vector<std::string> pointers;  // the member with the hit and later unknown ones
    core::TextBlock block;
  };
  // Checks an event of a known type; without a type, a whole body.
  std::optional<UnknownHit> look_at_members(std::string_view event_type, const json::value& value);
  // Edits that take the members of a hit away.
  Splice edits_without(const UnknownHit& hit) const;
  // True if a delta has the text that its type promises.
  static bool is_well_formed(const json::value& delta);

  // anthropic_blocks.cc: the blocks
  Result<void> start_block(const Event& event, EventSink& out);
  void start_text(Block& block, const Event& event, EventSink& out);
  void start_result(Block& block, const Event& event, EventSink& out);
  void start_unknown(Block& block, const Event& event, EventSink& out);
  Result<void> start_call(Block& block, const Event& event, EventSink& out);
  Result<void> take_delta(const Event& event, EventSink& out);
  Result<void> take_call_delta(Block& block, const Event& event, EventSink& out);
  Result<void> take_reasoning_delta(Block& block, const Event& event, EventSink& out);
  void pass_delta(Block& block, std::string_view name, std::string_view data, std::string_view text,
                  EventSink& out);
  // Passes a delta that differs from an earlier one only in its text. False: it does not.
  bool pass_repeated(const net::SseEvent& event, EventSink& out);
  void learn(const Block& block, const Event& event);
  void pass_citation(Block& block, const Event& event, EventSink& out);
  void pass_unknown_delta(Block& block, const Event& event, EventSink& out);
  Task<void> stop_block(Event event, EventSink& out);
  void finish_text(Block& block, EventSink& out);
  void release_reasoning(Block& block, const Event& stop, EventSink& out);
  void release_unsigned(Block& block, EventSink& out);
  void leave_out(const core::PassedText& passed);

  // anthropic_calls.cc: calls of the client and of the provider
  Task<void> settle(Block block, bool cut, EventSink& out);
  Task<void> settle_waiting(const json::value& next, EventSink& out);
  Async<void> record_call(Block block);
  Result<ProposedCall> proposed(const Block& block) const;
  static Splice start_edits(const Block& block);
  void release_provider_call(Block& block, EventSink& out);
  void rewrite_call(Block& block, const json::value& input, EventSink& out);

  // Sending and holding
  core::PassedText push(Block& block, std::string_view text);
  void start(Block& block, std::string_view name, std::string_view data, Splice edits,
             EventSink& out);
  void send(const Block& block, std::string_view name, std::string_view data, Splice edits,
            EventSink& out);
  void send_text(const Block& block, std::string_view text, EventSink& out);
  void send_block(std::string_view text, EventSink& out);
  void send_held(Block& block, EventSink& out);
  Result<void> hold(Block& block, const Event& event, std::string_view text, std::size_t limit);

  MessageDoors& doors_;
  AnswerSettings settings_;
  std::unique_ptr<MessageDoor> door_;  // null: nothing was checked yet
  bool begun_ = false;                 // `message_start` has come
  Observed observed_;
  std::map<std::uint64_t, Block> blocks_;  // open blocks, by the provider's index
  RepeatedDelta repeated_;
  std::uint64_t repeated_index_ = 0;  // the block with the deltas that `repeated_` knows
  std::optional<Block> waiting_;      // a call that may have been cut; a later event says so
  std::vector<Held> behind_;          // events that came after it
  std::size_t behind_bytes_ = 0;      // of all of them
  std::map<std::string, std::string> provider_tools_;  // names by id of the call
  std::uint64_t next_index_ = 0;                       // next index of a sent block
  std::uint64_t least_index_ = 0;                      // least index of the provider's next block
  bool whole_body_ = false;
  bool complete_ = false;
  bool failed_ = false;
  bool changed_ = false;  // something was changed
  std::string change_notice_;
  std::optional<core::TextBlock> left_out_;  // ends the message at its next call (MP-49)
  std::size_t calls_ = 0;
  std::size_t calls_sent_ = 0;
  std::size_t calls_refused_ = 0;
  std::size_t argument_bytes_ = 0;
  std::size_t text_bytes_ = 0;  // received, for the estimate of a cut stream
  json::object usage_;          // as last reported
  bool usage_at_end_came_ = false;
};

}  // namespace sallyport::llm
