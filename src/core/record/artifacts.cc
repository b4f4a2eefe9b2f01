#include "core/record/artifacts.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/cut_text.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kOutputBytes = 50 * 1024;
constexpr std::size_t kOutputLines = 2000;

std::size_t recorded_size(const std::string& output) {
  std::size_t lines = 0;
  for (std::size_t i = 0; i < output.size() && i < kOutputBytes; ++i) {
    if (output[i] == '\n' && ++lines == kOutputLines) return i;
  }
  return std::min(output.size(), kOutputBytes);
}

// An id that no detector takes for a card number: a redacted id would name nothing.
std::uint64_t artifact_id(const Redactor& redactor, Entropy& entropy) {
  constexpr int kTries = 64;
  for (int tried = 1;; ++tried) {
    std::array<std::uint8_t, 6> bytes;
    entropy.fill(bytes);
    std::uint64_t id = 0;
    for (const std::uint8_t byte : bytes) id = id << 8 | byte;
    json::value shown(id);
    if (tried == kTries || redactor.redact("id", shown).empty()) return id;
  }
}

}  // namespace

std::optional<Draft> Artifacts::move_out(ToolResult& result, const SharedSubject& subject,
                                         json::array& redactions) const {
  if (recorded_size(result.output) == result.output.size()) return std::nullopt;
  // Redacts before the cut, because a cut could leave half of a secret.
  json::value output(result.output);
  for (const Removal& removal : redactor.redact("output", output)) {
    redactions.push_back(listed(removal, "/outcome/result/output", digest));
  }
  if (output.is_string()) result.output = std::string(output.get_string());
  const std::size_t size = recorded_size(result.output);
  const std::uint64_t id = artifact_id(redactor, entropy);
  Draft artifact{.kind = Kind::Topic,
                 .subject = subject,
                 .topic = "artifacts",
                 .body = {{"artifact_id", id}, {"text", result.output}}};
  artifact.facts.push_back({"artifact", std::to_string(id), "", true});
  result.output = cut_utf8_bytes(result.output, size);
  result.artifact = id;
  return artifact;
}

}  // namespace sallyport::core
