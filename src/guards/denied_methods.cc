#include "guards/denied_methods.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace sallyport::guards {

DeniedMethods::DeniedMethods(std::set<std::string> methods) : methods_(std::move(methods)) {
  traits_.name = "denied-methods";
  traits_.settings = json::object{{"methods", json::value_from(methods_)}};
}

Task<Verdict> DeniedMethods::judge(const Call& call, const core::GuardContext&) const {
  if (!methods_.contains(call.tool)) co_return Verdict::allow();
  co_return Verdict::deny(fmt::format("the policy denies `{}` (`mcp.deny_methods`)", call.tool),
                          "mcp.denied");
}

}  // namespace sallyport::guards
