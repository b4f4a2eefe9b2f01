#include "records/pin_list.h"

#include <boost/json.hpp>
#include <set>

#include "base/try.h"

namespace sallyport::app {

namespace {

Result<std::optional<json::value>> kept_definition(core::RecordReader& records,
                                                   std::uint64_t sequence) {
  Result<json::value> found = mcp::pinned_definition(records, sequence);
  if (found) return std::optional(std::move(*found));
  if (found.error().code == ErrorCode::NotFound) return std::nullopt;
  return std::unexpected(std::move(found).error());
}

const json::object* members_of(const std::optional<json::value>& definition) {
  return definition ? definition->if_object() : nullptr;
}

}  // namespace

json::object to_json(const mcp::Pin& pin) {
  json::object object{{"server", pin.server},
                      {"tool", pin.tool},
                      {"hash", pin.hash},
                      {"sequence", pin.sequence},
                      {"held", pin.held()}};
  if (pin.held()) {
    object["changed_hash"] = pin.changed_hash;
    object["changed_sequence"] = pin.changed_sequence;
  }
  return object;
}

Result<PinChange> change_of(core::RecordReader& records, const mcp::Pin& pin) {
  PinChange change;
  SALLYPORT_TRY(change.before, kept_definition(records, pin.sequence));
  SALLYPORT_TRY(change.after, kept_definition(records, pin.changed_sequence));
  return change;
}

std::vector<PinMember> differing(const PinChange& change) {
  static const json::object kNone;
  const json::object* const before = change.before ? members_of(change.before) : &kNone;
  const json::object* const after = members_of(change.after);
  std::vector<PinMember> all;
  if (before == nullptr || after == nullptr) return all;
  std::set<std::string> names;
  for (const json::object* const side : {before, after}) {
    for (const auto& member : *side) names.insert(std::string(member.key()));
  }
  for (const std::string& name : names) {
    const PinMember one{name, before->if_contains(name), after->if_contains(name)};
    const bool both = one.before != nullptr && one.after != nullptr;
    if (!both || *one.before != *one.after) all.push_back(one);
  }
  return all;
}

}  // namespace sallyport::app
