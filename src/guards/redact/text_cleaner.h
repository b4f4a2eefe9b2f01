// Replaces findings in texts that belong together, until nothing more is found.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guards/detect/detectors.h"
#include "guards/redact/sanitizer_settings.h"
#include "guards/wording.h"

namespace sallyport::guards {

using HitCounts = std::map<std::string, std::size_t>;  // by detector

struct CleanedPart {
  std::string text;
  bool truncated = false;  // `kTruncated` must follow it
  bool changed = false;
};

// Immutable once built: any thread may call every method at any time.
class TextCleaner final {
 public:
  static Result<std::unique_ptr<const TextCleaner>> build(
      SanitizerSettings settings, std::string fingerprint_key,
      const guardrails::PatternStore* store = nullptr);

  const SanitizerSettings& settings() const { return settings_; }

  // Matches in one text, in order and without overlap. Marks (PI-67) and allowed texts (PI-63) are
  // not matches.
  std::vector<Hit> find(std::string_view text) const;

  struct Group {
    std::vector<CleanedPart> parts;  // scanned one by one and as one text
    std::string_view member{};       // the member with the only part as its value; empty: none
    bool is_name = false;            // the only part is a member name
  };

  // One pass: replaces, counts and returns true. If nothing is to be replaced, it counts what is
  // kept and returns false. `last_resort` masks with every strategy, because other marks may match
  // again together with the text beside them.
  bool clean_once(Group& group, HitCounts& counts, bool last_resort) const;

 private:
  TextCleaner(SanitizerSettings settings, std::string fingerprint_key,
              std::shared_ptr<const Detectors> detectors, std::shared_ptr<const WordingSet> allowed,
              std::shared_ptr<const WordingSet> denied);

  bool is_allowed(std::string_view matched) const;
  void find_denied(std::string_view text, std::vector<Hit>& hits) const;
  std::vector<Hit> find_in(const Group& group, const std::string& joined) const;
  std::string mark_for(const Hit& hit, std::string_view matched, Strategy strategy) const;

  SanitizerSettings settings_;
  std::string fingerprint_key_;
  std::shared_ptr<const Detectors> detectors_;
  std::shared_ptr<const WordingSet> allowed_;
  std::shared_ptr<const WordingSet> denied_;
};

}  // namespace sallyport::guards
