#include "guards/text_redaction.h"

#include <utility>

#include "guards/redaction_mark.h"

namespace sallyport::guards {

namespace {

std::string replace_hits(std::string_view text, const std::vector<Hit>& hits,
                         std::vector<RemovedText>& removed) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  for (const Hit& hit : hits) {
    const Category category = category_of(hit.detector);
    out.append(text.substr(copied, hit.begin - copied)).append(redaction_mark(category));
    removed.push_back({category, std::string(text.substr(hit.begin, hit.size()))});
    copied = hit.end;
  }
  return out.append(text.substr(copied));
}

}  // namespace

RedactedText redact_text(const Detectors& detectors, std::string_view text,
                         const DetectorSet& only) {
  // A match that lost against a longer one may stick out of it and still be a match by itself, so
  // the text is read until it is clean. Each turn leaves less of it; the limit is for the reader.
  constexpr int kMostTurns = 8;
  RedactedText result;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    const std::vector<Hit> hits = detectors.scan(turn == 0 ? text : result.text, only);
    if (hits.empty()) break;
    std::string next = replace_hits(turn == 0 ? text : result.text, hits, result.removed);
    result.text = std::move(next);
  }
  return result;
}

}  // namespace sallyport::guards
