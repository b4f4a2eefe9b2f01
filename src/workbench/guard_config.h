// The document of a dry run, and its errors (GR-59, GR-66).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "guardrails/check/guardrails.h"
#include "workspace/context.h"

namespace sallyport::app {

// A valid document, or the exit code of the command after it has printed the error.
struct GuardConfig {
  std::shared_ptr<const guardrails::Guardrails> guardrails;
  int exit_code = 0;
};

// `config`: a file, or `gallery:NAME`. YAML where the file's name says so.
Result<GuardConfig> load_guardrails(const Context& context, const std::string& config);

// Prints the error as GR-66 wants it; the exit code.
Result<int> report_error(const Context& context, const guardrails::DocumentError& error);

struct DryRunText {
  std::string text;
  int exit_code = 0;
};
// A file, or standard input where nothing or `-` is given; at most `most` bytes.
Result<DryRunText> read_text(const Context& context, const std::optional<std::string>& file,
                             std::size_t most);

}  // namespace sallyport::app
