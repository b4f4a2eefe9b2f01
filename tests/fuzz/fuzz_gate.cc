// Any text in any cutting through gates with all kinds of checks and views: the output is the same
// UTF-8 for every cutting, and so is every verdict.
//
// The input: a byte that chooses the document, a byte that seeds the cutting, then the text.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/check/guardrails.h"
#include "guardrails/stream/gate.h"

namespace {

using namespace sallyport;
using guardrails::Guardrails;
using guardrails::Passed;
using guardrails::TextGate;

constexpr std::string_view kDocuments[] = {
    R"({"max_hold_bytes":64,"checks":[{"type":"regex","stage":"output","patterns":["AKIA[A-Z0-9]{16}","a+b"]}]})",
    R"({"checks":[{"type":"regex","stage":"output","on_fail":"redact","patterns":["\\bkey\\b","[0-9]{2,9}$"],"except":["monkey"]}]})",
    R"({"checks":[{"type":"blocklist","stage":"output","on_fail":"redact","words":["key","ß"],"views":["strip","nfkc","confusables"]}]})",
    R"({"checks":[{"type":"blocklist","stage":"output","words":["secret"],"views":["percent","json","base64","hex"],"decode_depth":2}]})",
    R"({"checks":[{"type":"blocklist","stage":"output","on_fail":"log","words":["key"],"views":["strip","base64"]},
                  {"type":"regex","stage":"output","on_fail":"redact","patterns":["k.y"],"views":["nfkc","percent"]}]})",
    R"({"mode":"advisory","checks":[{"type":"regex","stage":"output","patterns":["(a|b)*c"],"views":["hex","json"]}]})"};

struct Seen {
  std::string text;
  std::vector<guardrails::Hit> logs;
  std::optional<guardrails::Hit> block;

  void add(const Passed& passed) {
    text += passed.text();
    logs.insert(logs.end(), passed.logs.begin(), passed.logs.end());
    if (passed.block) block = passed.block;
  }
  bool operator==(const Seen&) const = default;
};

void require(bool condition) {
  if (!condition) std::abort();
}

Seen run(const Guardrails& guardrails, std::string_view text, unsigned seed) {
  const std::unique_ptr<TextGate> gate = guardrails.arm(guardrails::Stage::Output, std::nullopt);
  Seen seen;
  while (!text.empty() && !seen.block) {
    seed = seed * 1103515245 + 12345;
    const std::size_t size = std::min<std::size_t>((seed >> 16) % 6, text.size());
    seen.add(*gate->push(text.substr(0, size)));
    text.remove_prefix(size);
  }
  seen.add(*gate->finish());
  return seen;
}

const Guardrails& document(unsigned choice) {
  static const auto compiled = [] {
    std::vector<std::shared_ptr<const Guardrails>> all;
    for (const std::string_view text : kDocuments) {
      all.push_back(*Guardrails::compile(*guardrails::read_document(text)));
    }
    return all;
  }();
  return *compiled[choice % compiled.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 2000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Guardrails& guardrails = document(data[0]);
  const Seen first = run(guardrails, text, data[1]);
  require(first == run(guardrails, text, data[1] + 7919u));
  require(is_utf8(first.text));
  const auto whole = guardrails.evaluate({.stage = guardrails::Stage::Output, .text = text});
  const bool limited = first.block && first.block->reason_code != "guardrail.regex" &&
                       first.block->reason_code != "guardrail.blocklist";
  if (!limited) require((whole.verdict == guardrails::Verdict::Block) == first.block.has_value());
  return 0;
}
