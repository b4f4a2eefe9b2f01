// Shell completion, from the table of commands that also parses them.
#pragma once

#include <string>
#include <vector>

namespace sallyport::app {

struct OptionInfo {
  std::vector<std::string> names;  // with their dashes
  std::string description;
  bool takes_value = false;
  bool takes_file = false;           // or a folder
  std::vector<std::string> choices;  // of the value, where they are known
};

struct CommandInfo {
  std::string name;
  std::string description;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> commands;
  std::vector<std::string> words;  // what may stand as a positional, where that is known
  bool takes_files = false;        // as positionals
};

// Global options stand in the root and are offered everywhere.
std::string bash_completion(const CommandInfo& root);
std::string zsh_completion(const CommandInfo& root);
std::string fish_completion(const CommandInfo& root);

}  // namespace sallyport::app
