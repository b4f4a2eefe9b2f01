#include "config/variables.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/try.h"
#include "config/mapping.h"

namespace sallyport::config {

namespace {

constexpr std::string_view kMark = "${";

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  const bool begins = !text.empty() && (text.front() < '0' || text.front() > '9');
  return begins && text.find_first_not_of(kLetters) == std::string_view::npos;
}

Result<void> put_into_text(YamlNode& node, const std::string& key, const std::string& file,
                           const Variables& variables) {
  const Place place{node, file};
  const std::string_view text = node.text;
  std::string out;
  std::size_t at = 0;
  for (std::size_t mark = text.find(kMark); mark != std::string_view::npos;
       mark = text.find(kMark, at)) {
    if (mark > at && text[mark - 1] == '$') {
      out.append(text.substr(at, mark - 1 - at)).append(kMark);
      at = mark + kMark.size();
      continue;
    }
    out.append(text.substr(at, mark - at));
    const std::size_t end = text.find('}', mark);
    const std::string name(
        text.substr(mark + 2, end == std::string_view::npos ? 0 : end - mark - 2));
    if (!is_name(name)) {
      return place.refuse(fmt::format(
          "`{}`: a variable is written `${{NAME}}`, and a plain `${{` is written `$${{`", key));
    }
    const std::optional<std::string> value = variables(name);
    if (!value) {
      return place.refuse(fmt::format(
          "`{}`: the variable `{}` is not set; set it where this program is started", key, name));
    }
    out.append(*value);
    at = end + 1;
  }
  if (at == 0) return {};
  out.append(text.substr(at));
  node.text = std::move(out);
  node.quoted = true;
  return {};
}

}  // namespace

Variables variables_of_this_process() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

Result<void> put_variables(YamlNode& node, const std::string& key, const std::string& file,
                           const Variables& variables) {
  if (node.kind == YamlNode::Kind::Scalar) {
    return put_into_text(node, key, file, variables);
  }
  for (YamlNode& item : node.items) {
    SALLYPORT_CHECK_OK(put_variables(item, key, file, variables));
  }
  for (YamlMember& member : node.members) {
    SALLYPORT_CHECK_OK(put_variables(member.value, member.key.text, file, variables));
  }
  return {};
}

}  // namespace sallyport::config
