// Effects as one line of text, for tests.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "effects/command_line.h"

namespace sallyport::effects {

// A disk of names only: each path is a file, and its parents are folders.
class FakeFiles final : public FileView {
 public:
  explicit FakeFiles(std::vector<std::string> files = {}) : files_(std::move(files)) {}

  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t most) const override {
    std::vector<std::string> out;
    const std::string start = folder == "/" ? "/" : folder + "/";
    for (const std::string& file : files_) {
      if (!file.starts_with(start)) continue;
      const std::string rest = file.substr(start.size());
      out.push_back(rest.substr(0, rest.find('/')));
    }
    std::ranges::sort(out);
    out.erase(std::ranges::unique(out).begin(), out.end());
    if (out.empty() || out.size() > most) return std::nullopt;
    return out;
  }
  std::optional<std::string> resolve(const std::string& path) const override { return path; }

 private:
  std::vector<std::string> files_;
};

inline std::string reason_text(OpaqueReason reason) {
  constexpr const char* kNames[] = {"syntax", "function",    "alias",         "expansion",
                                    "eval",   "builtin",     "code",          "heredoc",
                                    "stdin",  "interpreter", "configuration", "environment",
                                    "remote", "encoding",    "limit"};
  return kNames[static_cast<int>(reason)];
}

// `fs.delete /srv recursive; none`, then each opaque reason in brackets.
inline std::string text_of(const Effects& found) {
  std::string out;
  for (const Effect& effect : found.effects) {
    if (!out.empty()) out += "; ";
    out += effect.effect_class;
    if (effect.path) {
      const EffectPath& path = *effect.path;
      out += path.unknown ? " ?"
                          : " " +
                                (path.folder && path.folder != "/w" && !path.text.starts_with('/')
                                     ? *path.folder + ":"
                                     : "") +
                                path.text;
      if (!path.unknown && !path.folder && !path.text.starts_with('/')) out += "(?)";
      if (path.below) out += " below";
    }
    if (effect.host) out += effect.host->unknown ? " host=?" : " host=" + effect.host->text;
    if (effect.recursive) out += " recursive";
    if (effect.opaque) out += " opaque";
  }
  for (const OpaqueSpan& span : found.opaque) out += " [" + reason_text(span.reason) + "]";
  return out;
}

inline std::string effects_text(std::string_view line, std::vector<std::string> files = {},
                                std::string folder = "/w") {
  const FakeFiles disk(std::move(files));
  return text_of(
      effects_of_line(line, {.folder = std::move(folder), .home = "/home/user", .files = &disk}));
}

}  // namespace sallyport::effects
