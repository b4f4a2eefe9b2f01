#include "effects/command_line.h"

#include "effects/shell_reader.h"

namespace sallyport::effects {

Effects effects_of_line(std::string_view line, const ShellSetting& setting) {
  ShellReader reader(setting);
  reader.read_line(line);
  return reader.take_effects();
}

Effects effects_of_words(const std::vector<std::string>& words, const ShellSetting& setting) {
  ShellReader reader(setting);
  reader.read_words(words);
  return reader.take_effects();
}

}  // namespace sallyport::effects
