#include "hook/origins.h"

#include <boost/json.hpp>
#include <utility>

namespace sallyport::hook {

Origins::Key Origins::key_of(const Call& call) {
  return {call.agent_id, call.session_id, call.tool_call_id};
}

Origins::Added::Added(Origins& origins, const Call& call, json::value origin) : origins_(origins) {
  origins_.table_.with(
      [&](Table& table) { place_ = table.emplace(key_of(call), std::move(origin)); });
}

Origins::Added::~Added() {
  origins_.table_.with([&](Table& table) { table.erase(place_); });
}

json::value Origins::of(const Call& call) const {
  return table_.with([&](const Table& table) {
    const auto found = table.find(key_of(call));
    return found == table.end() ? json::value() : found->second;
  });
}

OriginGuard::OriginGuard(const Origins& origins) : origins_(origins) {
  traits_.name = "hook.origin";
  traits_.stage = core::Stage::External;
}

Task<Verdict> OriginGuard::judge(const Call& call, const core::GuardContext&) const {
  Verdict verdict = Verdict::allow();
  verdict.evidence = origins_.of(call);
  co_return verdict;
}

}  // namespace sallyport::hook
