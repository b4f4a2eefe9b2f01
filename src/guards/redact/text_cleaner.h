// Replaces what is found in texts that belong together, until nothing more is found in them.
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
  bool truncated = false;  // `kTruncated` belongs behind it
  bool changed = false;
};

// Immutable once built: every method may be called from any thread, at the same time.
class TextCleaner final {
 public:
  static Result<std::unique_ptr<const TextCleaner>> build(
      SanitizerSettings settings, std::string fingerprint_key,
      const guardrails::PatternStore* store = nullptr);

  const SanitizerSettings& settings() const { return settings_; }

  // Matches in one text, in order and without overlap. Marks are no matches (PI-67), and neither is
  // what is allowed (PI-63).
  std::vector<Hit> find(std::string_view text) const;

  struct Group {
    std::vector<CleanedPart> parts;  // scanned one by one and as one text
    std::string_view member{};       // whose value the only part is; empty where it is none
    bool is_name = false;            // the only part is a member name
  };

  // One turn: replaces, counts and returns true; or returns false when nothing is to be replaced,
  // having counted what is kept. `last_resort` masks whatever the strategy is: other marks may, in
  // the company of what stands beside them, be matches again.
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
