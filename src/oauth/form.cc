#include "oauth/form.h"

#include <algorithm>

#include "base/encoding.h"

namespace sallyport::oauth {

namespace {

constexpr std::size_t kMostFields = 64;

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (stays(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return out;
}

std::string form_text(const Fields& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out += '&';
    out += percent_encoded(name) + '=' + percent_encoded(value);
  }
  return out;
}

std::optional<Fields> read_form(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (part.empty()) continue;
    const std::size_t mark = std::min(part.find('='), part.size());
    auto name = percent_decoded(part.substr(0, mark), true);
    auto value = percent_decoded(part.substr(std::min(mark + 1, part.size())), true);
    if (!name || !value || fields.size() >= kMostFields) return std::nullopt;
    if (std::ranges::find(fields, *name, &Fields::value_type::first) != fields.end()) {
      return std::nullopt;
    }
    fields.emplace_back(std::move(*name), std::move(*value));
  }
  return fields;
}

std::string_view field(const Fields& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &Fields::value_type::first);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace sallyport::oauth
