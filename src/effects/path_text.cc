#include "effects/path_text.h"

namespace sallyport::effects {

std::string cleaned_path(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t slash = std::min(text.size(), text.find('/'));
    const std::string_view segment = text.substr(0, slash);
    text.remove_prefix(std::min(text.size(), slash + 1));
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      out.erase(out.empty() ? 0 : out.rfind('/'));
    } else {
      (out += '/') += segment;
    }
  }
  return out.empty() ? "/" : out;
}

std::optional<std::string> absolute_path(std::string_view text,
                                         const std::optional<std::string>& folder) {
  if (text.starts_with('/')) return cleaned_path(text);
  if (!folder) return std::nullopt;
  return cleaned_path(*folder + "/" + std::string(text));
}

bool is_at_or_below(std::string_view path, std::string_view folder) {
  if (folder == "/" || path == folder) return true;
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string_view last_segment(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string parent_folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

}  // namespace sallyport::effects
