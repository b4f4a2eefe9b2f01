// Parses server-sent events from bytes in pieces of any size (the `text/event-stream` of HTML).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::net {

struct SseEvent {
  std::string name{};     // of its kind; empty: a plain message
  std::string data{};     // lines, joined by line ends
  bool too_long = false;  // then `data` is only its first bytes
  std::string tail{};     // and this its last ones

  bool operator==(const SseEvent&) const = default;
};

// Uses at most about twice the limit of memory. The events do not depend on how the bytes are
// split.
class SseParser {
 public:
  // `limit`: the most bytes of one event's data that are kept.
  explicit SseParser(std::size_t limit) : limit_(limit) {}

  void feed(std::string_view bytes) { waiting_.append(bytes); }
  // Returns the next event, valid until the next call; its members may be moved from. Null: more
  // bytes are needed. An event without its final empty line is never returned.
  SseEvent* next();

  // The id that a client sends to resume the stream; empty: the server sent none.
  const std::string& last_id() const { return last_id_; }
  // The wait before a client resumes, if the server sent one.
  const std::optional<std::chrono::milliseconds>& retry() const { return retry_; }

 private:
  std::optional<std::string_view> take_line();
  void parse_line(std::string_view line);
  void forget_line();
  void parse_field(std::string_view name, std::string_view value);
  void add_data(std::string_view value);
  void forget_event();

  std::size_t limit_;
  std::string waiting_;      // fed and not yet read
  std::size_t read_ = 0;     // of it
  std::string line_;         // the unfinished line of earlier bytes
  std::size_t dropped_ = 0;  // bytes of it that were over the limit
  std::string line_tail_;
  bool skip_line_feed_ = false;  // the line before ended with a carriage return
  bool begun_ = false;           // the first line was read
  SseEvent event_;
  bool returned_ = false;  // `event_` was returned by `next`
  bool has_data_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace sallyport::net
