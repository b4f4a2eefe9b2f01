#include "base/wildcard.h"

namespace sallyport {

// Finds the pieces between stars in order, each at its first place. A later place would only leave
// less room for the rest, so no backtracking is needed.
bool fits_wildcard(std::string_view wildcard, std::string_view name) {
  const std::size_t first = wildcard.find('*');
  if (first == std::string_view::npos) return wildcard == name;
  const std::string_view head = wildcard.substr(0, first);
  const std::string_view tail = wildcard.substr(wildcard.rfind('*') + 1);
  if (name.size() < head.size() + tail.size()) return false;
  if (!name.starts_with(head) || !name.ends_with(tail)) return false;
  name.remove_prefix(head.size());
  name.remove_suffix(tail.size());
  wildcard = wildcard.substr(first, wildcard.size() - first - tail.size());
  while (!wildcard.empty()) {
    wildcard.remove_prefix(1);
    const std::string_view piece = wildcard.substr(0, wildcard.find('*'));
    const std::size_t at = name.find(piece);
    if (at == std::string_view::npos) return false;
    name.remove_prefix(at + piece.size());
    wildcard.remove_prefix(piece.size());
  }
  return true;
}

}  // namespace sallyport
