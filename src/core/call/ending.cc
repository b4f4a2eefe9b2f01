#include "core/call/ending.h"

namespace sallyport::core {

void commit_to_release(Draft& draft, const Release& release) {
  draft.exact.push_back({.path = "/post_invocation/released", .withheld_if_redacted = true});
  if (!release.keeps_original()) return;
  const std::optional<std::string>& malformed = release.original.malformed_bytes;
  draft.exact.push_back({.path = "/post_invocation/original",
                         .bytes = malformed,
                         .raw = malformed.has_value(),
                         .withheld = true});
}

}  // namespace sallyport::core
