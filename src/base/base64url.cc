#include "base/base64url.h"

#include "base/encoding.h"

namespace sallyport {

std::string base64url(std::string_view bytes) {
  std::string text = base64(as_bytes(bytes));
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
  std::string padded(text);
  for (char& c : padded) c = c == '-' ? '+' : c == '_' ? '/' : c;
  padded.append((4 - padded.size() % 4) % 4, '=');
  return from_base64(padded);
}

}  // namespace sallyport
