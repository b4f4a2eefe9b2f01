#include "core/record/plain_text.h"

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
  std::string visible;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto c = static_cast<unsigned char>(plain[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) continue;
    // U+0080 to U+009F: terminals obey them like the ones above.
    if (c == 0xc2 && i + 1 < plain.size() && static_cast<unsigned char>(plain[i + 1]) < 0xa0) {
      ++i;
      continue;
    }
    visible += plain[i];
  }
  return visible;
}

}  // namespace sallyport::core
