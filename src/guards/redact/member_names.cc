#include "guards/redact/member_names.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <utility>

#include "guards/redact/free_names.h"

namespace sallyport::guards {

namespace {

// By member, in order; `removed` is empty where nothing was found.
std::vector<RedactedText> redact_each(const Detectors& detectors, const json::object& object) {
  std::vector<RedactedText> names;
  names.reserve(object.size());
  for (const auto& member : object) names.push_back(redact_text(detectors, member.key()));
  return names;
}

bool any_found(const Detectors& detectors, const json::object& object) {
  return std::ranges::any_of(
      object, [&](const auto& member) { return !detectors.scan(member.key()).empty(); });
}

}  // namespace

std::vector<RenamedMember> redact_member_names(const Detectors& detectors, json::object& object) {
  if (!any_found(detectors, object)) return {};
  std::vector<RedactedText> redacted = redact_each(detectors, object);
  FreeNames names;
  for (std::size_t i = 0; const auto& member : object) {
    if (redacted[i++].removed.empty()) names.take(member.key());
  }
  std::vector<RenamedMember> renamed;
  json::object rebuilt(object.storage());
  rebuilt.reserve(object.size());
  for (std::size_t i = 0; auto& member : object) {
    RedactedText& name = redacted[i++];
    if (name.removed.empty()) {
      rebuilt.emplace(member.key(), std::move(member.value()));
      continue;
    }
    renamed.push_back({names.next_free(name.text), std::move(name.removed)});
    rebuilt.emplace(renamed.back().name, std::move(member.value()));
  }
  object = std::move(rebuilt);
  return renamed;
}

}  // namespace sallyport::guards
