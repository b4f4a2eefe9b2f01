// Keeps compiled patterns from one process to the next: to compile them takes longer than all else
// that a short command does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::guardrails {

// From any thread. `digest` names what was compiled, by which engine and, where that matters, for
// which processor.
class PatternStore {
 public:
  virtual ~PatternStore() = default;
  // No value: they have to be compiled.
  virtual std::optional<std::string> load(const std::string& digest) const = 0;
  // What cannot be kept is compiled again the next time.
  virtual void keep(const std::string& digest, std::string_view bytes) const = 0;
};

}  // namespace sallyport::guardrails
