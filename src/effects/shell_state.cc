#include "effects/shell_state.h"

#include <algorithm>

namespace sallyport::effects {

namespace {

constexpr std::size_t kMostFolders = 8;

}  // namespace

ShellState joined(const ShellState& left, const ShellState& right) {
  ShellState out = left;
  out.steered = left.steered || right.steered;
  if (left.folders.empty() || right.folders.empty()) {
    out.folders.clear();
  } else {
    for (const std::string& folder : right.folders) {
      if (std::ranges::find(out.folders, folder) == out.folders.end())
        out.folders.push_back(folder);
    }
    if (out.folders.size() > kMostFolders) out.folders.clear();
  }
  if (left.variables != right.variables) {
    ShellState::Variables kept;
    for (const auto& [name, values] : *left.variables) {
      const auto* other = right.find(name);
      if (other != nullptr && *other == values) kept.emplace(name, values);
    }
    out.variables = std::make_shared<const ShellState::Variables>(std::move(kept));
  }
  return out;
}

}  // namespace sallyport::effects
