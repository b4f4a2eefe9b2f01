// The normalisers of a check as one view: strip, NFKC, confusables, in this order (GR-38).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/document/document.h"
#include "guardrails/view/view_nfkc.h"
#include "guardrails/view/view_strip.h"
#include "match/tracker.h"

namespace sallyport::guardrails {

class Normaliser {
 public:
  explicit Normaliser(std::span<const View> normalisers);

  // Returns the characters that this one completes. They are valid until the next call.
  std::span<const match::Unit> take(const match::Unit& unit);
  // The text ends. Returns the characters that waited.
  std::span<const match::Unit> finish();
  void reset();
  std::optional<std::uint64_t> pending_from() const;

 private:
  void compose(const match::Unit& unit);
  void replace_look_alikes();

  bool strips_ = false;
  bool composes_ = false;
  bool replaces_ = false;
  Stripper stripper_;
  Composer composer_;
  std::vector<match::Unit> stripped_;
  std::vector<match::Unit> done_;
};

// The form of a word that is searched in normalised views.
std::string normalised(std::string_view word, std::span<const View> normalisers);

}  // namespace sallyport::guardrails
