#include "core/plain_text.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sallyport::core {

std::string plain_text(const Redactor& redactor, std::string text) {
  json::value value(text);
  try {
    redactor.redact("text", value);
  } catch (const std::exception&) {
    value = "[REDACTED:unreadable]";
  }
  std::string plain = value.is_string() ? std::string(value.get_string()) : canonical_json(value);
  std::erase_if(plain,
                [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; });
  return plain;
}

}  // namespace sallyport::core
