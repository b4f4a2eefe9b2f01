#include "app/records/pin_list.h"

#include <boost/json.hpp>
#include <set>

#include "base/try.h"

namespace sallyport::app {

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
  SALLYPORT_TRY(change.before, mcp::pinned_definition(records, pin.sequence));
  SALLYPORT_TRY(change.after, mcp::pinned_definition(records, pin.changed_sequence));
  return change;
}

std::vector<PinMember> differing(const PinChange& change) {
  const json::object* const before = change.before.if_object();
  const json::object* const after = change.after.if_object();
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
