// Reads command lines, each ended by a NUL, and prints for each one line of JSON: its commands,
// their effects and its opaque parts.
//   read_line FOLDER HOME [ROOT]      ROOT: the tree that globs are matched against
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <iostream>
#include <string>

#include "effects/shell_reader.h"

namespace {

namespace json = boost::json;
using namespace sallyport::effects;

class Tree final : public FileView {
 public:
  explicit Tree(std::string root) : root_(std::move(root)) {}

  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t most) const override {
    std::vector<std::string> out;
    std::error_code error;
    for (const auto& item : std::filesystem::directory_iterator(root_ + folder, error)) {
      out.push_back(item.path().filename().string());
    }
    if (error || out.size() > most) return std::nullopt;
    std::ranges::sort(out);
    return out;
  }
  std::optional<std::string> resolve(const std::string& path) const override { return path; }

 private:
  std::string root_;
};

json::array words_of(const std::vector<Word>& words) {
  json::array out;
  for (const Word& word : words) {
    json::array values;
    for (const std::string& value : word.values) values.emplace_back(value);
    out.push_back({{"values", std::move(values)}, {"many", word.many}});
  }
  return out;
}

constexpr const char* kReasons[] = {"syntax", "function",    "alias",         "expansion",
                                    "eval",   "builtin",     "code",          "heredoc",
                                    "stdin",  "interpreter", "configuration", "environment",
                                    "remote", "encoding",    "limit"};

json::object read(std::string_view line, const ShellSetting& setting) {
  ShellReader reader(setting);
  reader.read_line(line);
  json::array commands;
  for (const auto& words : reader.started()) commands.push_back(words_of(words));
  const Effects found = reader.take_effects();
  json::array effects;
  for (const Effect& effect : found.effects) {
    json::object made{{"class", effect.effect_class}};
    if (effect.path) {
      made["path"] = effect.path->unknown ? "?" : effect.path->text;
      if (effect.path->folder) made["folder"] = *effect.path->folder;
      if (effect.path->below) made["below"] = true;
    }
    if (effect.host) made["host"] = effect.host->unknown ? "?" : effect.host->text;
    if (effect.recursive) made["recursive"] = true;
    if (effect.opaque) made["opaque"] = true;
    effects.push_back(std::move(made));
  }
  json::array opaque;
  for (const OpaqueSpan& span : found.opaque) {
    opaque.push_back({{"reason", kReasons[static_cast<int>(span.reason)]},
                      {"start", span.start},
                      {"end", span.end}});
  }
  return {{"commands", std::move(commands)},
          {"effects", std::move(effects)},
          {"opaque", std::move(opaque)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const Tree tree(argc > 3 ? argv[3] : "");
  const ShellSetting setting{.folder = argv[1], .home = argv[2], .files = &tree};
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line, '\0'))
    std::cout << json::serialize(read(line, setting)) << '\n' << std::flush;
  return 0;
}
