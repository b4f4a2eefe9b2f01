// Caches compiled patterns between processes. Compiling them takes longer than everything else that
// a short command does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport::guardrails {

// Any thread may use it. `digest` covers what was compiled, the engine and, if that matters, the
// processor.
class PatternStore {
 public:
  virtual ~PatternStore() = default;
  // No value: the patterns must be compiled.
  virtual std::optional<std::string> load(const std::string& digest) const = 0;
  // If the bytes cannot be stored, they are compiled again the next time.
  virtual void keep(const std::string& digest, std::string_view bytes) const = 0;
};

}  // namespace sallyport::guardrails
