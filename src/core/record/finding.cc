#include "core/record/finding.h"

#include <boost/json.hpp>

namespace sallyport::core {

Draft finding_row(Finding finding, const Subject& subject) {
  Draft draft{.kind = Kind::GuardHit, .subject = subject, .body = std::move(finding.body)};
  if (const json::value* const kept = draft.body.if_contains("excerpt")) {
    draft.exact.push_back(
        {.path = "/excerpt", .bytes = canonical_json(*kept), .withheld_if_redacted = true});
    return draft;
  }
  if (finding.excerpt.empty()) {
    draft.body["excerpt"] = nullptr;
    return draft;
  }
  draft.exact.push_back({.path = "/excerpt",
                         .bytes = canonical_json(json::value(finding.excerpt)),
                         .withheld = true});
  draft.body["excerpt"] = finding.excerpt;
  return draft;
}

}  // namespace sallyport::core
