// Lines of a message, well-formed or not, through its gate: no line is misread, no undecided call
// runs, and nothing is sent after a block.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "guardrails/stream/message_delta.h"
#include "guardrails/stream/message_gate.h"

namespace {

using namespace sallyport;
using guardrails::MessageCall;
using guardrails::MessageGate;

void require(bool condition) {
  if (!condition) std::abort();
}

std::shared_ptr<const guardrails::Guardrails> checks() {
  static const auto made = *guardrails::Guardrails::compile(*guardrails::read_document(
      R"({"checks":[{"type":"blocklist","stage":"output","words":["stop"]},
                    {"type":"regex","stage":"output","on_fail":"redact","patterns":["k[0-9]+"]},
                    {"type":"blocklist","stage":"tool_use","tools":["a*"],"words":["rm"]}]})"));
  return made;
}

void take_text(MessageGate& gate, const guardrails::MessageDelta& delta) {
  const bool ended = gate.blocked_on().has_value();
  const auto passed = gate.push(*delta.channel, delta.delta.value_or(""));
  if (ended) require(passed && passed->pieces.empty() && !passed->block);
  if (delta.done) (void)gate.finish(*delta.channel);
}

void take_call(MessageGate& gate, const guardrails::MessageDelta& delta) {
  const bool ended = gate.blocked_on().has_value();
  (void)gate.open_call(delta.call, delta.tool);
  if (delta.delta) {
    const auto out = gate.push_arguments(delta.call, *delta.delta);
    if (ended) require(out && out->empty());
  }
  if (delta.done) (void)gate.close_call(delta.call);
  if (delta.started) {
    const auto runs = gate.start_call(delta.call);
    require(!(runs && *runs && ended));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4000) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  MessageGate gate(checks());
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto delta = guardrails::read_message_delta(line);
    if (!delta) continue;
    if (delta->channel) take_text(gate, *delta);
    if (!delta->call.empty()) take_call(gate, *delta);
  }
  for (const MessageCall& call : gate.calls()) {
    const bool undecided =
        call.state == MessageCall::State::Open || call.state == MessageCall::State::Ready;
    require(!(gate.blocked_on() && undecided));
  }
  return 0;
}
