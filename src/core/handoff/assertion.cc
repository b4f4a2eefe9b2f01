#include "core/handoff/assertion.h"

#include <boost/json.hpp>

namespace sallyport::core {

std::string_view to_string(Assertion::Standing standing) {
  switch (standing) {
    case Assertion::Standing::Holder:
      return "holder";
    case Assertion::Standing::Successor:
      return "successor";
    case Assertion::Standing::Other:
      return "other";
    case Assertion::Standing::Unasked:
      break;
  }
  return "unasked";
}

json::object Assertion::to_json() const {
  return {{"standing", to_string(standing)}, {"by", by}};
}

}  // namespace sallyport::core
