// A result that another process reports. That process ran the tool; this one did not see it run.
#pragma once

#include <boost/json/object.hpp>

#include "sallyport/json.h"

namespace sallyport::core {

struct Assertion {
  enum class Standing {
    Holder,     // the process that was handed the call
    Successor,  // that process is gone; this one runs the same program for the same parent
    Other,      // another process than the one that was handed the call
    Unasked,    // no call was handed out
  };

  Standing standing = Standing::Unasked;
  json::object by{};  // the process, as far as it is known

  // True if its report may end a call.
  bool counts() const { return standing == Standing::Holder || standing == Standing::Successor; }

  json::object to_json() const;  // `asserted` of a record

  bool operator==(const Assertion&) const = default;
};

std::string_view to_string(Assertion::Standing standing);

}  // namespace sallyport::core
