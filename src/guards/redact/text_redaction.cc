#include "guards/redact/text_redaction.h"

#include <utility>

#include "guards/redact/redaction_mark.h"

namespace sallyport::guards {

namespace {

// Maps places in a redacted text to the original text.
class Origin {
 public:
  std::size_t of(std::size_t place) const {
    std::size_t origin = place;
    for (const Shift& shift : shifts_) {
      if (shift.from > place) break;
      origin = place + shift.by;
    }
    return origin;
  }
  // From `from` of the new text on, a byte was `by` bytes later; `by` may wrap around.
  void add(std::size_t from, std::size_t by) { shifts_.push_back({from, by}); }

 private:
  struct Shift {
    std::size_t from;
    std::size_t by;
  };
  std::vector<Shift> shifts_;
};

std::string replace_hits(std::string_view text, const std::vector<Hit>& hits, Origin& origin,
                         std::vector<RemovedText>& removed) {
  std::string out;
  out.reserve(text.size());
  Origin next;
  std::size_t copied = 0;
  for (const Hit& hit : hits) {
    next.add(out.size(), origin.of(copied) - out.size());
    out.append(text.substr(copied, hit.begin - copied))
        .append(redaction_mark(category_of(hit.detector)));
    removed.push_back(
        {hit.detector, std::string(text.substr(hit.begin, hit.size())), origin.of(hit.begin)});
    copied = hit.end;
  }
  next.add(out.size(), origin.of(copied) - out.size());
  origin = std::move(next);
  return out.append(text.substr(copied));
}

}  // namespace

RedactedText redact_text(const Detectors& detectors, std::string_view text,
                         const DetectorSet& only) {
  // A match that lost against a longer one may overlap it only in part, so the text is scanned
  // until it is clean. Each turn leaves less of it; the limit only makes that obvious.
  constexpr int kMostTurns = 8;
  RedactedText result;
  Origin origin;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    const std::vector<Hit> hits = detectors.scan(turn == 0 ? text : result.text, only);
    if (hits.empty()) break;
    std::string next = replace_hits(turn == 0 ? text : result.text, hits, origin, result.removed);
    result.text = std::move(next);
  }
  return result;
}

}  // namespace sallyport::guards
