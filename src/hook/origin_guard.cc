#include "hook/origin_guard.h"

#include <boost/json.hpp>
#include <utility>

namespace sallyport::hook {

OriginGuard::OriginGuard(json::value told) : told_(std::move(told)) {
  traits_.name = "hook.origin";
  traits_.stage = core::Stage::External;
}

Task<Verdict> OriginGuard::judge(const Call&, const core::GuardContext&) const {
  Verdict verdict = Verdict::allow();
  verdict.evidence = told_;
  co_return verdict;
}

}  // namespace sallyport::hook
