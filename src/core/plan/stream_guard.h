// Checks of texts between a client and a model: prompts, answers while they stream, and tool
// results inside prompts. The seam beside ResultGuard: a Plan has at most one, made of its
// guardrails.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/one_or_more.h"
#include "sallyport/json.h"
#include "sallyport/result.h"
#include "sallyport/verdict.h"

namespace sallyport::core {

enum class TextStage : std::uint8_t { Input, Output, ToolUse, ToolOutput };
std::string_view to_string(TextStage stage);

// Source bytes [start, end) that are decided: text to pass on, or a region and its replacement.
struct TextPiece {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string text{};
  bool replaced = false;
};

// A block that ends a message or refuses a text.
struct TextBlock {
  std::string notice{};       // replaces what is withheld (GR-17)
  std::string reason{};       // for records: which check, and its code
  std::string check{};        // label of the check
  std::string reason_code{};  // such as `guardrail.regex`
};

// What a step releases.
struct PassedText {
  OneOrMore<TextPiece> pieces{};     // in source order, without gaps
  std::vector<Finding> findings{};   // that became certain
  std::optional<TextBlock> block{};  // nothing follows it

  // The text that leaves, without the notice of a block.
  std::string text() const;
  bool changed() const;  // a piece was replaced, or a block withholds the rest
};

// The verdict of the checks of stage `tool_use` about a proposed call.
struct CheckedCall {
  std::optional<TextBlock> block{};
  std::optional<json::value> rewritten{};  // its input without what was found
  std::vector<Finding> findings{};
};

// One text that arrives in pieces. Owned by one caller at a time.
class GuardedText {
 public:
  virtual ~GuardedText() = default;

  // After a block: nothing.
  virtual PassedText push(std::string_view delta) = 0;
  virtual PassedText finish() = 0;
  virtual std::uint64_t held() const = 0;    // bytes that wait
  virtual json::array coverage() const = 0;  // GR-62
};

// Immutable; any number of threads may use it at once.
class StreamGuard {
 public:
  virtual ~StreamGuard() = default;

  // True if the stage has a check that may change or withhold a text.
  virtual bool enforces(TextStage stage) const = 0;
  // Null: no check of this stage reads such texts, and they pass unchanged. Never for `ToolUse`.
  virtual std::unique_ptr<GuardedText> arm(TextStage stage,
                                           std::optional<std::string_view> tool) const = 0;
  // A whole text. An engine failure is a block (GR-75).
  virtual PassedText look_at(TextStage stage, std::string_view text,
                             std::optional<std::string_view> tool) const = 0;
  // `received`: the text of the input, if a double cannot hold one of its numbers.
  virtual CheckedCall look_at_call(std::string_view tool, const json::value& input,
                                   const std::optional<std::string>& received) const = 0;
  // The same checks for answers that are JSON: those of `Output` also see what is escaped in its
  // strings (MP-52). Null: they see no more than these. An error: they cannot be made.
  virtual Result<std::shared_ptr<const StreamGuard>> for_json_answers() const;
  // One element for each check, armed or not.
  virtual json::array coverage(TextStage stage, std::optional<std::string_view> tool) const = 0;
  // Grows with each set of checks that a process loads (GR-78).
  virtual std::uint64_t generation() const = 0;
};

}  // namespace sallyport::core
