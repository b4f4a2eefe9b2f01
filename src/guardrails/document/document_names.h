// How the values of a document are spelt, in one table for each kind of value.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

template <class E>
using Spelling = std::pair<E, std::string_view>;

inline constexpr std::array kStages = {
    Spelling<Stage>{Stage::Input, "input"}, Spelling<Stage>{Stage::Output, "output"},
    Spelling<Stage>{Stage::ToolUse, "tool_use"}, Spelling<Stage>{Stage::ToolOutput, "tool_output"}};
inline constexpr std::array kCheckTypes = {
    Spelling<CheckType>{CheckType::Regex, "regex"},
    Spelling<CheckType>{CheckType::Blocklist, "blocklist"},
    Spelling<CheckType>{CheckType::ToolPattern, "tool_pattern"}};
inline constexpr std::array kActions = {Spelling<Action>{Action::Block, "block"},
                                        Spelling<Action>{Action::Redact, "redact"},
                                        Spelling<Action>{Action::Log, "log"}};
inline constexpr std::array kSeverities = {
    Spelling<Severity>{Severity::Low, "low"}, Spelling<Severity>{Severity::Medium, "medium"},
    Spelling<Severity>{Severity::High, "high"}, Spelling<Severity>{Severity::Critical, "critical"}};
inline constexpr std::array kModes = {Spelling<Mode>{Mode::Active, "active"},
                                      Spelling<Mode>{Mode::Advisory, "advisory"}};
inline constexpr std::array kViews = {Spelling<View>{View::Strip, "strip"},
                                      Spelling<View>{View::Nfkc, "nfkc"},
                                      Spelling<View>{View::Confusables, "confusables"},
                                      Spelling<View>{View::Percent, "percent"},
                                      Spelling<View>{View::Json, "json"},
                                      Spelling<View>{View::Base64, "base64"},
                                      Spelling<View>{View::Hex, "hex"}};

inline constexpr std::span<const Spelling<Stage>> spellings(Stage) {
  return kStages;
}
inline constexpr std::span<const Spelling<CheckType>> spellings(CheckType) {
  return kCheckTypes;
}
inline constexpr std::span<const Spelling<Action>> spellings(Action) {
  return kActions;
}
inline constexpr std::span<const Spelling<Severity>> spellings(Severity) {
  return kSeverities;
}
inline constexpr std::span<const Spelling<Mode>> spellings(Mode) {
  return kModes;
}
inline constexpr std::span<const Spelling<View>> spellings(View) {
  return kViews;
}

// The list that a check of this type must have.
constexpr std::string_view own_list(CheckType type) {
  return type == CheckType::Regex ? "patterns" : type == CheckType::Blocklist ? "words" : "tools";
}

// Limits (GR-2, GR-3, GR-4).
inline constexpr std::size_t kMostDocumentBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kMostNesting = 32;
inline constexpr std::size_t kMostChecks = 64;
inline constexpr std::size_t kMostEntries = 64;
inline constexpr std::size_t kMostEntryBytes = 512;
inline constexpr std::size_t kMostReplacementBytes = 2000;
inline constexpr std::size_t kMostIdCharacters = 64;
inline constexpr std::uint64_t kLeastHoldBytes = 64;
inline constexpr std::uint64_t kMostHoldBytes = 1048576;
inline constexpr std::uint64_t kMostDecodeDepth = 3;

}  // namespace sallyport::guardrails
