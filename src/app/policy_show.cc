// The policies that come with the program.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "app/input.h"
#include "app/output.h"
#include "app/policy_commands.h"
#include "base/nearest.h"
#include "base/try.h"
#include "policy/policy.h"
#include "policy/shipped.h"

namespace sallyport::app {

Result<int> policy_show(const Context& context, const PolicyShowOptions& options) {
  if (options.name) {
    const policy::ShippedPolicy* const shipped = policy::shipped_policy(*options.name);
    if (shipped != nullptr) {
      say(trimmed(shipped->text));
      return 0;
    }
    std::vector<std::string> known;
    for (const policy::ShippedPolicy& one : policy::shipped_policies()) {
      known.emplace_back(one.name);
    }
    return fail(ErrorCode::NotFound,
                fmt::format("there is no policy `{:.200}`{}; `sallyport policy show` lists them",
                            *options.name, did_you_mean(*options.name, known)));
  }
  for (const policy::ShippedPolicy& shipped : policy::shipped_policies()) {
    const std::string name(shipped.name);
    SALLYPORT_TRY(const policy::Policy read, policy::read_policy(std::string(shipped.text), name));
    say(context.json() ? json::serialize(json::object{{"name", name}, {"about", read.about}})
                       : fmt::format("{:<20} {}", name, read.about));
  }
  return 0;
}

}  // namespace sallyport::app
