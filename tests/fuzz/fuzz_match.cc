// Any pattern and any text in any cutting: one error or one verdict, and the output is UTF-8.
//
// The input: a byte of effects, a byte that seeds the cutting, then patterns and the text, each
// ended by a NUL (the text by the end).
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "match/stream.h"
#include "match/utf8.h"

namespace {

using namespace sallyport::match;

struct Seen {
  std::string text;
  std::vector<Hit> logs;
  std::optional<Hit> block;

  void add(const Output& output) {
    text += output.text();
    logs.insert(logs.end(), output.logs.begin(), output.logs.end());
    if (output.block) block = output.block;
  }
  bool operator==(const Seen&) const = default;
};

Seen run(const std::shared_ptr<const PatternSet>& set, std::string_view text, unsigned seed) {
  Stream stream(set, {.most_held = 512, .replacements = {"<>"}});
  Seen seen;
  while (!text.empty()) {
    seed = seed * 1103515245 + 12345;
    const std::size_t size = seed == 0 ? 1 : (seed >> 16) % 6;
    seen.add(*stream.push(text.substr(0, size)));
    text.remove_prefix(std::min(size, text.size()));
  }
  seen.add(*stream.finish());
  return seen;
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 600) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::vector<Rule> rules;
  for (unsigned effects = data[0]; rules.size() < 3; effects /= 3) {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) break;
    rules.push_back({.effect = static_cast<Effect>(effects % 3),
                     .entries = {{.text = std::string(rest.substr(0, end))}}});
    rest.remove_prefix(end + 1);
  }
  const auto set = PatternSet::compile(rules, 1 << 20);
  if (!set) {
    require(!set.error().cause.empty() && !set.error().message.empty());
    return 0;
  }
  const Seen first = run(*set, rest, data[1]);
  require(first == run(*set, rest, data[1] + 7919u));
  require(well_formed(first.text) == first.text);
  // A whole text and a stream agree on whether there is a block, unless a limit stepped in.
  bool blocks = false;
  for (const Match& match : (*set)->find(rest)) {
    blocks = blocks || (*set)->effect(match.rule) == Effect::Block;
  }
  if (!first.block || first.block->why == Hit::Why::Match) {
    require(blocks == first.block.has_value());
  }
  return 0;
}
