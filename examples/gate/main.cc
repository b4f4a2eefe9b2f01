// The guardrails of a policy on the answer of a program's own model: what may be shown comes out
// piece by piece, and the ledger holds what was found.
#include <sallyport/engine.h>

#include <iostream>

using namespace sallyport;

namespace {

constexpr const char* kPolicy = R"(version: 1
guardrails:
  checks:
    - {type: regex, stage: output, id: mail, on_fail: redact, replacement: "[mail]",
       patterns: ['[a-z.]+@[a-z]+\.example']}
    - {type: blocklist, stage: output, id: codename, words: [bluebird]}
    - {type: blocklist, stage: tool_use, id: no-drop, words: ["drop table"]}
)";

}  // namespace

int main() {
  const auto engine = EngineBuilder("").policy(kPolicy).open();
  if (!engine) {
    std::cerr << engine.error().message << '\n';
    return 1;
  }
  const Subject about{.session_id = "session-1", .agent_id = "agent:example"};

  // One stream of text. A match is never shown in part, wherever the text is cut.
  const auto gate = (*engine)->arm(GuardrailStage::Output, "", about);
  if (!gate || *gate == nullptr) return 1;
  for (const char* const delta : {"Write to ada@", "math.example, ", "she leads blue", "bird."}) {
    const Result<GateOutput> out = (*gate)->push(delta);
    if (!out) return 1;
    std::cout << '[' << out->text << ']' << (out->blocked ? " blocked" : "") << '\n';
    if (out->blocked) break;
  }

  // One message of a model: its text, and a call whose arguments arrive in pieces.
  const auto message = (*engine)->arm_message(about);
  if (!message || *message == nullptr) return 1;
  const auto text = (*message)->push(MessageChannel::Text, "I clean up.");
  const auto rest = (*message)->finish(MessageChannel::Text);
  if (!text || !rest) return 1;
  std::cout << text->text << '|' << rest->text << '\n';
  (void)(*message)->open_call("call-1", "sql");
  (void)(*message)->push_arguments("call-1", R"({"query":"DROP)");
  (void)(*message)->push_arguments("call-1", R"( TABLE users"})");
  const auto call = (*message)->close_call("call-1");
  if (!call) return 1;
  std::cout << (call->arguments ? "runs" : call->reason) << '\n';
  return 0;
}
