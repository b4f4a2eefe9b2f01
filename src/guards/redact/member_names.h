// Redacts the member names of one object.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "guards/redact/text_redaction.h"
#include "sallyport/json.h"

namespace sallyport::guards {

struct RenamedMember {
  std::string name;  // the new name
  std::vector<RemovedText> removed;
};

// Renames in place and keeps the order. Names without a match stay. Names that would become equal
// get `#2`, `#3`, ... (PI-62).
std::vector<RenamedMember> redact_member_names(const Detectors& detectors, json::object& object);

}  // namespace sallyport::guards
