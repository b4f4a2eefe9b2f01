// The answer of OpenAI Responses. An unchanged event leaves with the provider's own bytes. In a
// changed event only single values are replaced. State is kept by output index and content index,
// never by order of arrival (MP-40).
//
// A call of the client is held from `output_item.added` until `output_item.done`, then decided.
// Events of later items wait until then, so items leave in the order of their indices.
//
// Sources: responses_adapter.cc (events by type, the response, errors), responses_stream.cc (texts
// in deltas), responses_parts.cc (parts, annotations), responses_calls.cc (held calls),
// responses_items_out.cc (items), responses_body.cc (whole bodies), responses_block.cc (the end of
// a blocked message).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/answer_adapter.h"
#include "llm/json_splice.h"
#include "llm/repeated_delta.h"
#include "llm/responses_items.h"
#include "llm/responses_text_rule.h"
#include "llm/responses_texts.h"

namespace sallyport::llm {

class ResponsesAdapter final : public AnswerAdapter {
 public:
  ResponsesAdapter(MessageDoors& doors, AnswerSettings settings);

  Task<void> on_event(const net::SseEvent& event, EventSink& out) override;
  Task<void> on_end(EventSink& out) override;
  Task<std::string> on_body(std::string body) override;
  void keep_alive(EventSink& out) override;
  void fail(EventSink& out, const ApiError& error) override;
  bool complete() const override { return complete_; }
  const Observed& observed() const override { return observed_; }

 private:
  // An event as received.
  struct Incoming {
    std::string name{};
    std::string data{};
    json::value value{};
    std::string type{};
    std::optional<std::uint64_t> index{};  // `output_index`
  };
  // A part of a message or of reasoning, by its number (`kSummaryPart` and up: summaries).
  struct Part {
    std::string raw{};    // as sent
    bool added = false;   // its `added` event left
    bool closed = false;  // its `done` event left
    bool text_done = false;
    std::uint64_t dropped = 0;  // annotations
    struct Annotation {
      Incoming event;
      std::uint64_t end = 0;  // the character that it waits for
    };
    std::list<Annotation> waiting{};
    std::vector<std::string> annotations{};  // sent annotations
  };
  struct Item {
    std::string id{};
    std::string type{};
    std::string raw{};  // as sent: from `added`, then from `done`
    bool call = false;  // a client call
    bool closed = false;
    std::map<std::uint64_t, Part> parts{};
  };
  struct Held {
    std::uint64_t index = 0;
    std::string id{};
    std::string name{};
    std::vector<Incoming> events{};
    bool deciding = false;  // the door is deciding about it
  };
  // The place where a check ended the message.
  struct Blocked {
    core::TextBlock block{};
    std::optional<std::uint64_t> item{};
    std::string pointer{};  // path of the text inside its item
    std::string released{};
  };
  using MaybeBlocked = std::optional<Blocked>;

  // responses_adapter.cc
  // Skips events that the client has from an earlier reading.
  class Resumed;
  Task<void> on_own_event(const net::SseEvent& event, EventSink& out);
  Result<Incoming> read(const net::SseEvent& event) const;
  Task<void> take(Incoming in, EventSink& out);
  Task<void> drain(EventSink& out);
  Task<void> handle(Incoming in, EventSink& out);
  Task<void> on_response(Incoming in, EventSink& out);
  Result<void> on_error(const Incoming& in, EventSink& out);
  Result<void> on_other(const Incoming& in, EventSink& out);
  Result<MaybeBlocked> check_response(const json::value& response, const std::string& pointer,
                                      Splice& edits);
  void observe(const json::value& response);
  static bool is_final(std::string_view type);
  static Result<void> check_output(const json::value& response);
  static bool is_known_of_response(std::string_view name);
  static std::string stop_reason(const json::value& response);
  // Returns an event of the provider with the next number.
  std::string numbered(const Incoming& in, Splice edits);
  std::uint64_t next_number(std::uint64_t of_provider);
  void send(EventSink& out, const Incoming& in, Splice edits = {}, bool last = false);
  // Sends an event of our own. `members` follow `type` and `sequence_number`.
  void make(EventSink& out, std::string_view type, std::string_view members, bool last = false);
  void withheld() { renumbers_ = true; }
  bool loose() const { return !door_->enforces_output() && !door_->holds_calls(); }

  // responses_stream.cc
  struct Place {
    TextPlace text{};
    ChannelId channel{};
    std::uint64_t number = 0;  // number in the event
  };
  // A text that comes in deltas.
  struct Stream {
    const TextRule* rule;
    std::string item_id;
    std::uint64_t number;
  };
  static std::optional<Place> place_of(const TextRule& rule, const json::value& event);
  Result<void> on_delta(const Incoming& in, const TextRule& rule, EventSink& out);
  // Passes a delta that differs from an earlier one only in its text. No value: it does not.
  std::optional<Result<void>> on_repeated(const net::SseEvent& event, EventSink& out);
  Result<void> after_delta(const Place& place, const TextRule& rule, TextStep step, EventSink& out);
  void learn(const Incoming& in, const TextRule& rule, const Place& place);
  Result<void> on_text_done(const Incoming& in, const TextRule& rule, EventSink& out);
  Result<void> on_part(const Incoming& in, bool done, EventSink& out);
  Result<void> on_shell_output(const Incoming& in, EventSink& out);
  Result<void> on_transcript(const Incoming& in, EventSink& out);
  Part& part_of(const Place& place, const TextRule& rule, const json::value& event);
  void make_delta(EventSink& out, const TextPlace& place, const Stream& stream,
                  std::string_view text);
  // Sends the part of a text that still waits.
  Result<void> close_text(const TextPlace& place, EventSink& out);
  Result<void> close_texts(std::optional<std::uint64_t> item, EventSink& out);
  // Starts a text with the part that its `added` event contains.
  Result<MaybeBlocked> begin_text(const ItemText& text, std::string_view item_id,
                                  const std::string& pointer, Splice& edits);

  // responses_parts.cc
  Result<void> on_annotation(Incoming in, EventSink& out);
  Result<void> send_annotation(const Incoming& in, std::uint64_t item, std::uint64_t number,
                               EventSink& out);
  Result<void> release_annotations(std::uint64_t item, std::uint64_t number, EventSink& out);
  Result<MaybeBlocked> check_annotation(const json::value& annotation, const std::string& pointer,
                                        const TextPlace& place, Splice& edits);
  Result<MaybeBlocked> check_annotations(const json::value& part, const std::string& pointer,
                                         const TextPlace& place, Splice& edits);
  void drop_logprobs(const json::value& object, const std::string& pointer, Splice& edits);
  // `in_item` is the path of the part inside its item, `pointer` its path in the event.
  Result<MaybeBlocked> check_part(const json::value& part, const std::string& pointer,
                                  std::uint64_t item, const std::string& in_item, Splice& edits);
  Result<MaybeBlocked> check_texts(const ItemTexts& texts, std::size_t inside,
                                   const std::string& pointer, Splice& edits);
  Result<MaybeBlocked> check_extras(const Incoming& in);
  // A member of events of this type in the API.
  static bool is_member(std::string_view type, std::string_view name);

  // responses_calls.cc
  bool begins_call(const Incoming& in) const;
  Result<MaybeBlocked> check_call(std::uint64_t index, const json::value& item);
  Result<void> wait(Incoming in, bool held);
  Task<void> settle(EventSink& out);
  void cut_held(EventSink& out);
  // Decides about a complete call. A dropped call is refused.
  Task<CallRuling> rule_on(const json::value& item, std::string raw);
  Result<void> release_unchanged(EventSink& out);
  void release_rebuilt(EventSink& out, const std::string& raw);
  bool is_consistent(const json::value& item) const;
  // Sends a message of our own, from its first event to its last.
  void make_message(EventSink& out, std::uint64_t index, std::string_view text,
                    std::string_view status, bool refusal);
  void drop_undecided();
  std::string message_id(std::uint64_t index) const;

  // responses_items_out.cc
  Result<void> on_added(const Incoming& in, EventSink& out);
  Task<void> on_done(Incoming in, EventSink& out);
  // The item that leaves instead of `raw`. It has the same text if nothing is changed.
  struct ItemOut {
    std::string raw{};
    MaybeBlocked blocked{};
  };
  Task<ItemOut> item_out(std::uint64_t index, const json::value& item, std::string raw,
                         bool decides);
  Result<ItemOut> check_item(std::uint64_t index, const json::value& item, std::string raw);
  Task<std::string> call_out(std::uint64_t index, const json::value& item, std::string raw);
  // Collects all items, or those before the item that a check blocked.
  Task<MaybeBlocked> list_out(const json::array& list, const std::vector<std::string_view>& raws,
                              bool decides, std::vector<std::string>& items);
  Result<void> keep_item(Item& item, std::string raw);

  // responses_body.cc
  Result<std::string> blocked_body(const std::string& body, const json::value& value,
                                   std::string_view member, std::vector<std::string> items,
                                   const Blocked& blocked);
  // The item in which the message ended. `placed`: it contains the notice.
  Result<std::string> cut_item(std::uint64_t index, const json::value& item, std::string_view raw,
                               const Blocked& blocked, bool& placed);
  Result<std::string> cut_parts(std::uint64_t index, const json::value& item, std::string_view raw,
                                std::string_view member, const Blocked& blocked, bool& placed);
  std::string cut_provider_item(std::uint64_t index, const json::value& item, std::string_view raw,
                                const Blocked& blocked) const;

  // responses_block.cc
  Result<void> end_blocked(EventSink& out, const Blocked& blocked);
  // Returns whether the item contains the notice.
  bool close_item(EventSink& out, std::uint64_t index, Item& item, const Blocked& blocked);
  void close_part(EventSink& out, std::uint64_t index, Item& item, std::uint64_t number);
  std::string closed_item(std::uint64_t index, const Item& item) const;
  std::string_view blocked_status() const;
  void set_blocked(Splice& edits, const json::value& response, const std::string& pointer,
                   const std::string& output) const;

  std::unique_ptr<MessageDoor> door_;
  AnswerSettings settings_;
  ResponsesTexts texts_;
  Observed observed_;
  bool complete_ = false;
  bool failed_ = false;
  bool renumbers_;            // false: numbers of the provider pass unchanged
  std::uint64_t next_ = 0;    // next sequence number
  std::uint64_t latest_ = 0;  // number of the last sent event
  std::string begun_;         // the last sent event about a running response
  std::map<std::uint64_t, Item> items_;
  std::map<TextPlace, Stream> streams_;
  RepeatedDelta repeated_;
  Place repeated_place_;                     // the text with the deltas that `repeated_` knows
  const TextRule* repeated_rule_ = nullptr;  // the rule of that text
  std::optional<Held> held_;
  std::map<std::uint64_t, std::list<Incoming>> queue_;  // events of items after the held call
  std::uint64_t waiting_ = 0;                           // bytes of held and queued events
  std::uint64_t calls_ = 0;
  std::uint64_t item_bytes_ = 0;
  bool noted_logprobs_ = false;
};

}  // namespace sallyport::llm
