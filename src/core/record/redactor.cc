#include "core/record/redactor.h"

#include <boost/json.hpp>
#include <exception>

namespace sallyport::core {

json::object listed(const Removal& removal, std::string_view path, const KeyedDigest& digest) {
  json::object item{{"path", std::string(path) + removal.path},
                    {"category", removal.category},
                    {"digest", digest(removal.removed)},
                    {"detector", removal.detector}};
  if (removal.at == 0 && removal.removed.size() == removal.of) item["whole"] = true;
  return item;
}

bool redact_name(const Redactor& redactor, std::string& text) {
  try {
    return redactor.redact_identifier(text);
  } catch (const std::exception&) {
    text = "[REDACTED:unreadable]";
    return true;
  }
}

}  // namespace sallyport::core
