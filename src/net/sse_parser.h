// Server-sent events out of bytes that arrive in any pieces (the `text/event-stream` of HTML).
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

// Costs at most about twice the limit, whatever it is fed, and gives the same events for every way
// of cutting the same bytes.
class SseParser {
 public:
  // `limit`: the most bytes of one event's data that are kept.
  explicit SseParser(std::size_t limit) : limit_(limit) {}

  void feed(std::string_view bytes) { waiting_.append(bytes); }
  // Until the next one is asked for; its members may be moved from. Null: more bytes are needed. An
  // event that was not ended by an empty line never comes.
  SseEvent* next();

  // What a client sends back when it goes on with the stream; empty: the server named nothing.
  const std::string& last_id() const { return last_id_; }
  // How long it shall wait before that, if the server said so.
  const std::optional<std::chrono::milliseconds>& retry() const { return retry_; }

 private:
  std::optional<std::string_view> take_line();
  void hear_line(std::string_view line);
  void forget_line();
  void hear_field(std::string_view name, std::string_view value);
  void add_data(std::string_view value);
  void forget_event();

  std::size_t limit_;
  std::string waiting_;      // fed and not yet read
  std::size_t read_ = 0;     // of it
  std::string line_;         // that began in bytes which were fed before
  std::size_t dropped_ = 0;  // bytes of it that were over the limit
  std::string line_tail_;
  bool skip_line_feed_ = false;  // the line before ended with a carriage return
  bool begun_ = false;           // the first line was read
  SseEvent event_;
  bool told_ = false;  // it was given to the caller
  bool has_data_ = false;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace sallyport::net
