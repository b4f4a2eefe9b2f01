// Command lines: never a crash, never more effects than the limit, and spans inside of the line.
#include <cstdint>
#include <string_view>

#include "base/try.h"
#include "effects/command_line.h"

namespace {

using namespace sallyport::effects;

class FewFiles final : public FileView {
 public:
  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t) const override {
    if (folder == "/w") return std::vector<std::string>{"-rf", ".env", "a.c", "sub"};
    if (folder == "/w/sub") return std::vector<std::string>{"b.c"};
    return std::nullopt;
  }
  std::optional<std::string> resolve(const std::string& path) const override { return path; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const FewFiles files;
  const ShellSetting setting{.folder = "/w", .home = "/home/user", .files = &files};
  const Effects found = effects_of_line(line, setting);
  SALLYPORT_INVARIANT(!found.effects.empty() && found.effects.size() <= 1024);
  for (const OpaqueSpan& span : found.opaque) {
    SALLYPORT_INVARIANT(span.start <= span.end && span.end <= line.size());
  }
  bool opaque = false;
  const CommandPattern pattern{.run = {"git", "push"}, .flags = {"--force"}, .without = {"-n"}};
  for (const Effect& effect : found.effects) {
    opaque = opaque || effect.opaque;
    if (effect.command) {
      matches(pattern, *effect.command, true, {"/w"});
      matches(pattern, *effect.command, false, {"/w"});
    }
  }
  SALLYPORT_INVARIANT(opaque == !found.opaque.empty());
  SALLYPORT_INVARIANT(effects_of_line(line, setting) == found);
  return 0;
}
