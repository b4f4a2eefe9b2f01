// A guardrail document: the checks, where they run, and what they do.
//
//   {"checks": [{"type": "regex", "stage": "output", "id": "aws", "on_fail": "redact",
//                "patterns": ["AKIA[A-Z0-9]{16}"]}]}
//
// Reading is strict: nothing is ignored, the first error is reported, and nothing is compiled
// before the whole document is valid.
#pragma once

#include <boost/json/value.hpp>
#include <concepts>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::guardrails {

enum class Stage : std::uint8_t { Input, Output, ToolUse, ToolOutput };
enum class CheckType : std::uint8_t { Regex, Blocklist, ToolPattern };
enum class Action : std::uint8_t { Block, Redact, Log };
enum class Severity : std::uint8_t { Low, Medium, High, Critical };
enum class Mode : std::uint8_t { Active, Advisory };
// Normalisers first, then decoders, each in the order in which they are applied.
enum class View : std::uint8_t { Strip, Nfkc, Confusables, Percent, Json, Base64, Hex };

std::string_view to_string(Stage stage);
std::string_view to_string(CheckType type);
std::string_view to_string(Action action);
std::string_view to_string(Severity severity);
std::string_view to_string(Mode mode);
std::string_view to_string(View view);
std::optional<Stage> stage_named(std::string_view name);

struct Check {
  CheckType type = CheckType::Regex;
  Stage stage = Stage::Output;
  std::optional<std::string> id{};
  std::string label{};  // the id, else `<type>#<index>`
  Action on_fail = Action::Block;
  Severity severity = Severity::Medium;
  std::optional<std::string> replacement{};
  std::vector<std::string> entries{};  // patterns, words, or wildcards of a `tool_pattern`
  std::optional<bool> unicode{};
  bool case_sensitive = false;
  bool whole_word = false;
  std::vector<std::string> tools{};  // scope; empty: every tool
  std::vector<std::string> args{};   // argument paths; empty: all of them
  std::vector<std::string> except{};
  std::vector<View> views{};  // sorted
  unsigned decode_depth = 2;

  bool operator==(const Check&) const = default;
};

struct Document {
  Mode mode = Mode::Active;
  std::vector<Check> checks{};
  std::uint64_t max_hold_bytes = 65536;
  std::string config_hash{};  // SHA-256 of the canonical form of the input, in hex

  bool operator==(const Document&) const = default;
};

// Why a document (GR-6), arguments or a text (GR-66) are refused. Codes, paths and details are
// stable; messages are for people.
struct DocumentError {
  std::string code;
  std::string message;
  std::optional<std::string> check{};
  std::optional<std::size_t> check_index{};
  std::optional<std::string> path{};  // JSON Pointer
  std::optional<std::string> detail{};

  bool operator==(const DocumentError&) const = default;
};
json::object to_json(const DocumentError& error);

// Steps 2 to 10 of GR-6; patterns are compiled by `Guardrails::compile`.
std::expected<Document, DocumentError> read_document(std::string_view text);
// The same from step 3 on, for a parsed document such as a section of a policy. A template, because
// a text would also convert to a JSON string.
template <std::same_as<json::value> Value>
std::expected<Document, DocumentError> read_document(const Value& given);

}  // namespace sallyport::guardrails
