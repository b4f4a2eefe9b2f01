#include "hook/dialect.h"

#include "hook/dialects.h"

namespace sallyport::hook {

namespace {

std::span<const Dialect* const> all() {
  static const Dialect* const kAll[] = {&claude_code(), &codex(), &gemini(), &cursor(), &copilot()};
  return kAll;
}

}  // namespace

const Dialect* dialect_named(std::string_view name) {
  for (const Dialect* const dialect : all()) {
    if (dialect->name() == name) return dialect;
  }
  return nullptr;
}

std::vector<std::string> dialect_names() {
  std::vector<std::string> names;
  for (const Dialect* const dialect : all()) names.emplace_back(dialect->name());
  return names;
}

}  // namespace sallyport::hook
