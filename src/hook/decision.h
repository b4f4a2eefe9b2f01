// The answer to an event, before a dialect formats it.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "sallyport/json.h"

namespace sallyport::hook {

struct Decision {
  enum class Kind {
    Allow,     // the host continues as without the hook
    Deny,      // the tool does not run, the prompt is not sent
    Ask,       // the host asks its user; a yes counts
    Wait,      // another person must say yes; then the same call is allowed
    Rewrite,   // the tool runs with `value` as its input
    Replace,   // the model sees `value` in the place of the result
    Withhold,  // the model sees `reason` in the place of the result
  };

  Kind kind = Kind::Allow;
  std::string reason{};
  json::value value{};

  static Decision allow() { return {}; }
  static Decision deny(std::string reason) { return {Kind::Deny, std::move(reason), {}}; }
  static Decision withhold(std::string reason) { return {Kind::Withhold, std::move(reason), {}}; }

  bool operator==(const Decision&) const = default;
};

}  // namespace sallyport::hook
