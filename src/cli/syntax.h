// The options and arguments that a command takes. Only syntax.cc and command_line.cc know the parsing
// library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sallyport::app {

// Data for shell completion that the parsing library does not keep.
struct OptionNotes {
  std::set<const CLI::Option*> files;
  std::map<const CLI::Option*, std::vector<std::string>> choices;
};

// One option or argument. A handle: the parser owns the option.
class Option {
 public:
  Option(CLI::Option& option, OptionNotes& notes) : option_(&option), notes_(&notes) {}

  Option required() const;
  // Accepts only these values, and shows them as the type.
  Option choices(std::vector<std::string> values) const;
  Option needs(const Option& other) const;
  Option excludes(const Option& other) const;
  // Neither help nor completion shows it.
  Option hidden() const;

 private:
  CLI::Option* option_;
  OptionNotes* notes_;
};

// The syntax of one command. A name that begins with a dash is an option, any other an argument in
// its place. The variables must live as long as the parser.
class Syntax {
 public:
  Syntax(CLI::App& command, OptionNotes& notes) : command_(command), notes_(notes) {}

  Option flag(const char* name, bool& out, const char* description);
  Option number(const char* name, std::uint16_t& out, const char* description, const char* type);
  Option text(const char* name, std::string& out, const char* description,
              const char* type = "TEXT");
  Option text(const char* name, std::optional<std::string>& out, const char* description,
              const char* type = "TEXT");
  // An option that may be repeated, or all arguments that remain.
  Option texts(const char* name, std::vector<std::string>& out, const char* description,
               const char* type);
  // Shell completion offers files for these. A file without a default is required.
  Option file(const char* name, std::filesystem::path& out, const char* description);
  Option file(const char* name, std::optional<std::filesystem::path>& out, const char* description,
              const char* type = "FILE");
  Option files(const char* name, std::vector<std::filesystem::path>& out, const char* description);
  // The last lines of the help.
  void footer(const char* text);

 private:
  Option noted(CLI::Option* option) { return {*option, notes_}; }
  Option noted_file(CLI::Option* option);

  CLI::App& command_;
  OptionNotes& notes_;
};

}  // namespace sallyport::app
