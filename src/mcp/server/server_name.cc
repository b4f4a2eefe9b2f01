#include "mcp/server/server_name.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace sallyport::mcp {

namespace {

constexpr std::size_t kLongestName = 64;

bool is_launcher(std::string_view program) {
  constexpr auto kLaunchers = std::to_array<std::string_view>(
      {"npx",    "npm",     "exec",   "uvx",    "uv",  "run", "tool", "node", "bun", "bunx", "deno",
       "python", "python3", "docker", "podman", "env", "sh",  "bash", "pnpm", "dlx", "yarn"});
  return std::ranges::find(kLaunchers, program) != kLaunchers.end();
}

std::string plain(std::string name) {
  // A scope ends at the last slash; a version begins at an `@` that is not the first character.
  if (const auto version = name.find('@', 1); version != std::string::npos) name.resize(version);
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!good) c = '-';
  }
  name.resize(std::min(name.size(), kLongestName));
  return name;
}

}  // namespace

std::string name_of_command(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (word.empty() || word.starts_with('-') || word.find('=') != std::string::npos) continue;
    const std::filesystem::path path(word);
    if (is_launcher(path.filename().string())) continue;
    std::string name = path.filename().string();
    for (const std::string_view ending : {".js", ".mjs", ".cjs", ".ts", ".py"}) {
      if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    }
    // The folder of `dist/index.js` is a better name.
    std::filesystem::path folder = path.parent_path();
    while ((name == "index" || name == "main" || name == "dist" || name == "build" ||
            name == "server" || name == "src") &&
           folder.has_filename()) {
      name = folder.filename().string();
      folder = folder.parent_path();
    }
    if (std::string good = plain(std::move(name)); !good.empty()) return good;
  }
  return "server";
}

}  // namespace sallyport::mcp
