#include "core/record/redactor.h"

#include <boost/json.hpp>

namespace sallyport::core {

json::object listed(const Removal& removal, std::string_view path, const KeyedDigest& digest) {
  json::object one{{"path", std::string(path) + removal.path},
                   {"category", removal.category},
                   {"digest", digest(removal.removed)},
                   {"detector", removal.detector}};
  if (removal.at == 0 && removal.removed.size() == removal.of) one["whole"] = true;
  return one;
}

}  // namespace sallyport::core
