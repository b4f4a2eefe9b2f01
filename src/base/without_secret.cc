#include "base/without_secret.h"

namespace sallyport {

std::string without_secret(std::string text, std::string_view secret) {
  constexpr std::size_t kShortestSecret = 4;
  constexpr std::string_view kMark = "[REDACTED:credential]";
  if (secret.size() < kShortestSecret) return text;
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, from)) {
    out.append(text, from, at - from).append(kMark);
    from = at + secret.size();
  }
  if (from == 0) return text;
  out.append(text, from);
  return out;
}

}  // namespace sallyport
