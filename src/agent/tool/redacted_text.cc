#include "agent/tool/redacted_text.h"

#include <boost/json.hpp>

namespace sallyport::agent {

std::string redacted_text(const core::Redactor& redactor, std::string text) {
  json::value value(std::move(text));
  try {
    redactor.redact("text", value);
  } catch (const std::exception&) {
    return "[REDACTED:unreadable]";
  }
  return value.is_string() ? std::string(value.get_string()) : "[REDACTED:unreadable]";
}

}  // namespace sallyport::agent
