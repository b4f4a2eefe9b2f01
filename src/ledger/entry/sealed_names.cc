#include "ledger/entry/sealed_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sallyport::ledger {

namespace {

constexpr auto kNames = std::to_array<std::string_view>({
    "answer",
    "args",
    "command",
    "cwd",
    "description",
    "detail",
    "details",
    "effective_input",
    "effects",
    "error",
    "escalations",
    "excerpt",
    "input",
    "listen_context",
    "message",
    "nonce",
    "original",
    "output_preview",
    "payload",
    "prepared_snapshot",
    "prompt",
    "query_preview",
    "raw_input",
    "reason",
    "released",
    "request",
    "requested_input",
    "result",
    "snapshot",
    "structured_input",
    "text",
    "undo_metadata",
    "value",
    "working_directory",
});
static_assert(std::ranges::is_sorted(kNames));

}  // namespace

bool is_sealed_name(std::string_view name) {
  // Called for every member of every body, and nearly always false. First letter and length rule
  // out most names.
  static constexpr auto kFirstLetters = [] {
    std::array<std::uint32_t, 32> letters{};
    for (const std::string_view sealed : kNames) letters[sealed.size()] |= 1u << (sealed[0] - 'a');
    return letters;
  }();
  if (name.empty() || name.size() >= kFirstLetters.size() || name[0] < 'a' || name[0] > 'z')
    return false;
  if ((kFirstLetters[name.size()] >> (name[0] - 'a') & 1) == 0) return false;
  return std::ranges::binary_search(kNames, name);
}

std::span<const std::string_view> sealed_names() {
  return kNames;
}

}  // namespace sallyport::ledger
