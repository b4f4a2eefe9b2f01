#include "core/call/ending.h"

#include <boost/json.hpp>

namespace sallyport::core {

void add_release(Draft& draft, const Release& release) {
  draft.body["post_invocation"] = release.to_json();
  draft.exact.push_back({.path = "/post_invocation/released",
                         .bytes = canonical_json(release.released.to_json()),
                         .withheld_if_redacted = true});
  if (draft.body.at("post_invocation").as_object().contains("original")) {
    const Envelope& original = release.original;
    draft.exact.push_back({.path = "/post_invocation/original",
                           .bytes = original.malformed_bytes ? *original.malformed_bytes
                                                             : canonical_json(original.to_json()),
                           .raw = original.malformed_bytes.has_value(),
                           .withheld = true});
  }
}

void add_ending(Draft& draft, const Ending& ending) {
  draft.outcome = to_string(ending.outcome.kind);
  draft.body["outcome"] = to_json(ending.outcome);
  draft.body["terminal"] = ending.terminal;
  draft.body["effect_state"] = to_string(ending.effect);
  draft.body["post_invocation"] = nullptr;
  if (ending.release) add_release(draft, *ending.release);
}

}  // namespace sallyport::core
