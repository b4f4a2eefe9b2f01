#include "effects/patch.h"

#include <algorithm>

#include "base/trimmed.h"

namespace sallyport::effects {

namespace {

struct Header {
  std::string_view begin;
  std::string_view effect_class;
};
constexpr Header kHeaders[] = {{"Add File:", "fs.write"},
                               {"Update File:", "fs.write"},
                               {"Move to:", "fs.write"},
                               {"Delete File:", "fs.delete"}};
constexpr std::string_view kOthers[] = {"Begin Patch", "End Patch", "End of File"};

}  // namespace

std::vector<Effect> effects_of_patch(std::string_view text,
                                     const std::optional<std::string>& folder) {
  std::vector<Effect> effects;
  bool unread = false;
  while (!text.empty()) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), text.find('\n')));
    if (!text.empty()) text.remove_prefix(1);
    if (!line.starts_with("***")) continue;
    const std::string_view rest = trimmed(line.substr(3));
    if (std::ranges::find(kOthers, rest) != std::end(kOthers)) continue;
    const auto header = std::ranges::find_if(
        kHeaders, [&](const Header& each) { return rest.starts_with(each.begin); });
    const std::string_view path = header == std::end(kHeaders)
                                      ? std::string_view()
                                      : trimmed(rest.substr(header->begin.size()));
    unread = unread || path.empty();
    if (path.empty()) continue;
    effects.push_back({.effect_class = std::string(header->effect_class),
                       .path = EffectPath{.text = std::string(path), .folder = folder}});
  }
  if (unread || effects.empty()) {
    effects.push_back({.effect_class = "fs.write", .path = EffectPath{.unknown = true}});
  }
  return effects;
}

}  // namespace sallyport::effects
