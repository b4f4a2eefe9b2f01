// The compiled checks of a document. Immutable; any number of threads may use it at once.
//
//   auto guardrails = Guardrails::compile(*read_document(text));
//   Evaluation seen = (*guardrails)->evaluate({.stage = Stage::ToolOutput, .text = "...", .tool =
//   "fetch"}); if (seen.verdict == Verdict::Redact) pass_on(*seen.text);
//
// One engine serves whole texts and streams (gate.h); both agree (GR-68).
#pragma once

#include <functional>
#include <memory>

#include "guardrails/check/hit.h"
#include "guardrails/document/document.h"

namespace sallyport::guardrails {

class TextGate;
class PatternStore;
struct Compiled;

struct EntryName {
  std::string check;
  std::string entry;

  bool operator==(const EntryName&) const = default;
};

// GR-10.
struct Report {
  std::size_t patterns = 0;
  std::vector<EntryName> unbounded{};
  std::vector<EntryName> ascii_classes{};

  bool operator==(const Report&) const = default;
};
json::object to_json(const Report& report);

enum class Verdict : std::uint8_t { Allow, Redact, Block };
std::string_view to_string(Verdict verdict);

struct Decision {
  std::size_t check_index = 0;
  std::string check{};
  std::string reason_code{};
  std::string replacement{};            // the configured or the default one
  std::optional<std::string> reason{};  // the text for the model about a refused call (GR-36)

  bool operator==(const Decision&) const = default;
};

struct Evaluation {
  Verdict verdict = Verdict::Allow;
  std::vector<Hit> hits{};
  std::optional<Decision> decision{};
  std::optional<std::string> text{};  // redacted; of `tool_use` and of a JSON value: canonical JSON
  std::optional<json::value> value{};       // redacted, if a JSON value was given
  std::optional<std::string> error_text{};  // redacted, if one was given
  std::vector<Coverage> coverage{};         // one for each check of the document
  std::uint64_t invalid_utf8 = 0;
};

struct Request {
  Stage stage = Stage::Output;
  std::string_view text{};  // ignored if `value` is given
  const json::value* value =
      nullptr;  // arguments of `tool_use`; a `tool_output` that is not a string
  // The received text of `value`, if a double cannot hold one of its numbers (ParsedJson::exact):
  // such numbers are checked as received too.
  std::string_view received{};
  std::optional<std::string_view> error_text{};  // one more text of a `tool_output` (GR-32)
  std::optional<std::string_view> tool{};
  std::function<bool(std::size_t)> skip{};
};

class Guardrails {
 public:
  // Steps 11 and 12 of GR-6. `store` caches compiled parts; null: everything is compiled.
  static std::expected<std::shared_ptr<const Guardrails>, DocumentError> compile(
      Document document, std::uint64_t generation = 1, const PatternStore* store = nullptr);
  ~Guardrails();

  const Document& document() const;
  const Report& report() const;
  std::uint64_t generation() const;
  // True if the stage has a check.
  bool armed(Stage stage) const;

  // Pure. An engine failure is a block with `guardrail.engine_error` (GR-75).
  Evaluation evaluate(const Request& request) const;

  // Opens a gate for a stream. Null: no check of this stage applies, so the text passes unchanged
  // (GR-43). Always null for `tool_use`: arguments of a call are not a stream of text (GR-54). The
  // gate keeps alive what it needs.
  std::unique_ptr<TextGate> arm(Stage stage, std::optional<std::string_view> tool) const;
  // The coverage of a stream of this stage, armed or not.
  std::vector<Coverage> coverage_of_stream(Stage stage, std::optional<std::string_view> tool) const;

 private:
  explicit Guardrails(std::shared_ptr<const Compiled> compiled);
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace sallyport::guardrails
