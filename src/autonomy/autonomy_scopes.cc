#include "sallyport/autonomy_scopes.h"

#include <boost/json.hpp>

#include "autonomy/scope_stack.h"
#include "base/try.h"

namespace sallyport {

Result<AutonomyScopes::Entered> AutonomyScopes::push(const json::value& policy,
                                                     std::string_view agent_id) {
  SALLYPORT_TRY(autonomy::AutonomyPolicy scope,
                autonomy::autonomy_policy_from_json(policy, "scope"));
  auto pushed = stack_ ? std::make_shared<autonomy::ScopeStack>(*stack_)
                       : std::make_shared<autonomy::ScopeStack>();
  SALLYPORT_CHECK_OK(pushed->add(std::move(scope), agent_id));
  return Entered(*this, std::exchange(stack_, std::move(pushed)));
}

std::size_t AutonomyScopes::depth() const {
  return stack_ ? stack_->depth() : 0;
}

}  // namespace sallyport
