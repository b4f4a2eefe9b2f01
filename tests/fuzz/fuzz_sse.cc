// Streams of events: the same for every way of cutting them, and never more costly than the limit.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/try.h"
#include "net/sse_parser.h"

namespace {

using sallyport::net::SseEvent;
using sallyport::net::SseParser;

constexpr std::size_t kLimit = 64;

struct Seen {
  std::vector<SseEvent> events;
  std::string last_id;
};

Seen read(std::string_view text, std::size_t piece) {
  SseParser parser(kLimit);
  Seen seen;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    parser.feed(text.substr(at, piece));
    while (auto event = parser.next()) {
      SALLYPORT_INVARIANT(event->data.size() <= kLimit && event->tail.size() <= 256);
      seen.events.push_back(std::move(*event));
    }
  }
  seen.last_id = parser.last_id();
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Seen whole = read(text, text.size() + 1);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{data[0]} + 1}) {
    const Seen cut = read(text, piece);
    SALLYPORT_INVARIANT(cut.last_id == whole.last_id && cut.events == whole.events);
  }
  return 0;
}
