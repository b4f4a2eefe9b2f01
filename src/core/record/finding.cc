#include "core/record/finding.h"

#include <boost/json.hpp>

namespace sallyport::core {

Draft finding_row(Finding finding, const SharedSubject& subject) {
  const bool kept = finding.body.contains("excerpt");
  Draft draft{.kind = Kind::GuardHit, .subject = subject, .body = std::move(finding.body)};
  if (kept) {
    draft.exact.push_back({.path = "/excerpt", .withheld_if_redacted = true});
    return draft;
  }
  if (finding.excerpt.empty()) {
    draft.body["excerpt"] = nullptr;
    return draft;
  }
  draft.exact.push_back({.path = "/excerpt", .withheld = true});
  draft.body["excerpt"] = finding.excerpt;
  return draft;
}

}  // namespace sallyport::core
