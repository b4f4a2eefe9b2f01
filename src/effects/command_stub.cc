// Stands in for the command reader until it is there: every line is opaque.
#include "effects/command_line.h"

namespace sallyport::effects {

namespace {

Effects opaque_line(std::size_t size) {
  return {.effects = {{.effect_class = "process.exec", .command = Command{}, .opaque = true}},
          .opaque = {{.reason = OpaqueReason::Syntax, .start = 0, .end = size}}};
}

}  // namespace

Effects effects_of_line(std::string_view line, const ShellSetting&) {
  return opaque_line(line.size());
}
Effects effects_of_words(const std::vector<std::string>&, const ShellSetting&) {
  return opaque_line(0);
}
Match matches(const CommandPattern&, const Command&, bool, const std::vector<std::string>&) {
  return Match::No;
}
bool knows_flag(const CommandPattern&, std::string_view) {
  return true;
}

}  // namespace sallyport::effects
