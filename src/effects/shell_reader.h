// Visits the commands of a line in the order in which a shell would run them, including every
// branch, and collects their effects (RU-45).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "effects/command_line.h"
#include "effects/shell_state.h"
#include "effects/shell_syntax.h"
#include "effects/word_expansion.h"

namespace sallyport::effects {

// A word of a command and its origin.
struct Argument {
  Word word{};
  bool remote = false;               // it, or the file that it names, comes from the network
  bool process = false;              // `<(...)`: a pipe, neither a file nor an option
  std::vector<std::string> below{};  // stands for some path below one of these (`find -exec`)

  // Its value, if only one is possible; otherwise null.
  const std::string* text() const {
    return word.known() && word.values.size() == 1 ? &word.values[0] : nullptr;
  }
};

// The standard input of a command.
struct StandardInput {
  bool redirected = false;     // from a pipe, a file or a here-document
  bool remote = false;         // it comes from the network
  bool document = false;       // a here-document or a here-string
  std::optional<Word> text{};  // the text of the document, if known
};

// A command with its words. A wrapper turns it into the command that it starts.
struct Invocation {
  std::vector<Argument> words{};
  StandardInput input{};
  std::size_t start = 0;
  std::size_t end = 0;
  int level = 0;
  bool has_environment = false;  // an assignment that may be harmful precedes it
};

// Reads one line. Used by one thread and never copied.
class ShellReader {
 public:
  explicit ShellReader(const ShellSetting& setting);

  void read_line(std::string_view line);
  void read_words(const std::vector<std::string>& words);
  Effects take_effects();

  // Every command that the shell starts, including wrappers (RU-44).
  const std::vector<std::vector<Word>>& started() const { return started_; }

  // Adds the effects of a command. Nothing runs. The functions below serve profiles of programs.
  void run(Invocation call);
  // The same behind `chroot`. In another root than ours every path is unknown.
  void run_in_root(Invocation call, bool ours);
  // Reads a text that a shell runs, in this shell (`eval`) or in a new one (`own_shell`).
  void run_text(const Invocation& call, const Argument& text, OpaqueReason otherwise,
                bool own_shell);
  void opaque(OpaqueReason reason, const Invocation& call);
  void add(Effect effect);
  void add_path(std::string_view effect_class, const Argument& path, bool recursive = false,
                bool below = false);
  void add_here(std::string_view effect_class, bool recursive = false);
  void add_host(const Argument& address);
  void add_plain(std::string_view effect_class);
  void remote_code();
  void make_link(const Argument& target, const std::vector<Argument>& sources);
  void copy_tree(const Argument& target, const std::vector<Argument>& sources);
  void unpack(const Argument& folder);
  // True if `text` names an existing file or folder.
  bool is_file(const std::string& text);
  // True if `text` names a folder, or if that is unknown.
  bool may_be_folder(const std::string& text);
  bool was_downloaded(const Argument& file) const;
  // A copy of a downloaded file.
  void mark_downloaded(const Argument& target, const Argument& source);
  std::size_t effect_count() const { return out_.effects.size(); }
  ShellState& state() { return state_; }
  const SharedCommand& command() const { return command_; }
  const ShellSetting& setting() const { return setting_; }
  StandardInput& input() { return input_; }
  void set_folder(const Argument& folder);
  void assign(const std::string& name, std::vector<std::string> values);
  void assign_unknown_names();
  bool is_safe_arithmetic(std::string_view text) const;
  // True if the variable may hold a value that arithmetic would run.
  bool is_doubtful(std::string_view name) const;

 private:
  static constexpr std::size_t kMostWork = 4 * kMostCommands;
  enum class Place { Top, Inside };  // whether an assignment here is unconditional

  void read_list(const CommandList& list, Place place);
  void read_and_or(const AndOrList& item, Place place);
  void doubt_move(const std::vector<std::string>& before);
  bool is_copied_link(const std::string& path);
  bool is_below_unpacked(const std::string& path) const;
  void read_pipeline(const Pipeline& pipeline, Place place);
  void read_command(const CommandSyntax& command, Place place);
  void read_if(const CommandSyntax& command);
  void read_case(const CommandSyntax& command);
  void read_loop(const CommandSyntax& command);
  void read_for(const CommandSyntax& command);
  void read_condition(const CommandSyntax& command);
  void read_subshell(const CommandList& list);
  template <class Body>
  void repeat(const Body& body);
  // Simple commands (shell_reader_commands.cc).
  void read_simple(const CommandSyntax& command, Place place);
  bool read_redirections(const CommandSyntax& command, StandardInput& input);
  void read_assignments(const CommandSyntax& command, Place place);
  bool is_number(const WordSyntax& word);
  bool visit(const std::vector<Part>& parts);  // true: a part of it comes from the network
  bool check_arithmetic(const std::vector<Part>& parts);
  // Effects, and places that cannot be read (shell_reader_effects.cc, like `add` above).
  void check_characters(std::string_view line);
  void fail(OpaqueReason reason, std::size_t start, std::size_t end);
  void write_changes(const Effect& effect);
  void mark_downloads(std::size_t first, std::size_t last);

  const ShellSetting& setting_;
  WordExpansion expansion_;
  ShellState state_{};
  DiskChanges changes_{};
  std::set<std::string, std::less<>> doubtful_{};
  Effects out_{};
  std::vector<std::vector<Word>> started_{};
  StandardInput input_{};
  SharedCommand command_{};
  std::size_t commands_ = 0;  // parsed
  std::size_t work_ = 0;      // evaluated, loops more than once
  std::size_t words_made_ = 0;
  std::size_t words_run_ = 0;
  std::size_t requests_ = 0;  // effects of class network.request
  int level_ = 0;
  int texts_ = 0;  // nesting depth of texts; spans refer to the outermost
  std::size_t span_start_ = 0;
  std::size_t span_end_ = 0;
  bool limit_reached_ = false;
  bool other_root_ = false;
};

bool is_integer(std::string_view text);

// The effects of a command whose program has a profile (program_effects.cc and others).
void program_effects(ShellReader& reader, const Invocation& call, const std::string& name);

}  // namespace sallyport::effects
