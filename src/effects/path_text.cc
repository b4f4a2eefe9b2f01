#include "effects/path_text.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/lower_case.h"

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

bool is_file_address(std::string_view text) {
  constexpr std::string_view kScheme = "file:";
  return text.size() >= kScheme.size() &&
         std::ranges::equal(text.substr(0, kScheme.size()), kScheme, {}, lower_letter);
}

std::optional<std::string> path_of_address(std::string_view address) {
  address.remove_prefix(5);
  if (address.find_first_of("?#") != std::string_view::npos) return std::nullopt;
  if (address.starts_with("//")) {
    address.remove_prefix(2);
    const std::string_view host = address.substr(0, address.find('/'));
    const bool here =
        host.empty() || std::ranges::equal(host, std::string_view("localhost"), {}, lower_letter);
    if (!here) return std::nullopt;
    address.remove_prefix(host.size());
  }
  if (!address.starts_with('/')) return std::nullopt;
  return percent_decoded(address);
}

}  // namespace sallyport::effects
