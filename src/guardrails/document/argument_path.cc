#include "guardrails/document/argument_path.h"

#include <utility>

namespace sallyport::guardrails {

namespace {

std::optional<std::string> decoded(std::string_view segment) {
  std::string out;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '~') {
      out += segment[i];
      continue;
    }
    ++i;
    if (i == segment.size() || (segment[i] != '0' && segment[i] != '1')) return std::nullopt;
    out += segment[i] == '0' ? '~' : '/';
  }
  return out;
}

}  // namespace

std::optional<ArgumentPath> ArgumentPath::read(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  ArgumentPath path;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view segment = text.substr(0, text.find('/'));
    text.remove_prefix(segment.size());
    if (segment == "*") {
      path.segments.emplace_back(std::nullopt);
      continue;
    }
    std::optional<std::string> name = decoded(segment);
    if (!name) return std::nullopt;
    path.segments.push_back(std::move(name));
  }
  return path;
}

}  // namespace sallyport::guardrails
