// Answers of providers, well-formed or not, through both wires of the agent and the builder: the
// same message or the same error for every cut, UTF-8 in all of it, and limits that hold.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/answer_reader.h"
#include "agent/model/anthropic_wire.h"
#include "agent/model/chat_wire.h"
#include "base/try.h"
#include "sallyport/json.h"

namespace {

using namespace sallyport;
using namespace sallyport::agent;

// Returns the whole content of an answer as one text.
std::string told(bool anthropic, std::string_view bytes, std::size_t piece) {
  AnswerReader reader(anthropic ? anthropic_frames() : chat_frames());
  MessageBuilder message;
  std::optional<ProviderError> error;
  while (!bytes.empty() && !reader.ended() && !error) {
    std::vector<ModelEvent> events;
    const ModelResult<void> fed = reader.feed(bytes.substr(0, piece), events);
    for (const ModelEvent& event : events) {
      const ModelResult<void> added = message.add(event);
      if (added) continue;
      error = added.error();
      break;
    }
    if (!fed && !error) error = fed.error();
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (!error && !reader.ended()) {
    if (const ModelResult<void> finished = reader.finish(); !finished) error = finished.error();
  }
  std::string all = fmt::format("{}|{}|{}|{}", message.text(), message.stop_reason(),
                                message.at_limit(), error ? text_of(*error) : "whole");
  for (const ModelCall& call : message.calls()) {
    SALLYPORT_INVARIANT(!call.id.empty() && !call.name.empty());
    all += fmt::format("|{}|{}|{}", call.id, call.name, call.arguments);
  }
  SALLYPORT_INVARIANT(is_utf8(all));
  SALLYPORT_INVARIANT(message.calls().size() <= 256);
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 20'000) return 0;
  const bool anthropic = (data[0] & 1) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = told(anthropic, bytes, bytes.size() + 1);
  SALLYPORT_INVARIANT(told(anthropic, bytes, 1) == whole);
  SALLYPORT_INVARIANT(told(anthropic, bytes, 1 + data[1] % 97) == whole);
  return 0;
}
