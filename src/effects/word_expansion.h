// What the words of a command become: braces, `~`, variables, splitting and globs (RU-46, RU-47).
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "effects/command_line.h"
#include "effects/glob.h"
#include "effects/shell_state.h"
#include "effects/shell_syntax.h"

namespace sallyport::effects {

// Lives as long as the reading of one line: what it has seen of the disk is what all words see.
class WordExpansion {
 public:
  explicit WordExpansion(const ShellSetting& setting) : setting_(setting) {}

  // The words that a word of a command becomes.
  std::vector<Word> fields(const WordSyntax& word, const ShellState& state,
                           const DiskChanges& changes);
  // Without braces, splitting and globs: the value of an assignment, a here-document.
  Word one(const std::vector<Part>& parts, const ShellState& state, bool tilde = true);
  // As far as globs may look.
  bool is_folder(const std::string& path);
  // True if such a name exists. False also if that cannot be seen.
  bool exists(const std::string& path);
  // May a link on the way from `root` to `below`, which begins with `/`, lead elsewhere? True also
  // where too much was looked at for this line.
  bool leads_out(const std::string& root, const std::string& below);

 private:
  struct Candidate {
    std::string text;
    std::string active;  // for each byte: whether it may be part of a glob
  };
  struct Draft;

  void expand(const std::vector<Part>& parts, const ShellState& state, const DiskChanges& changes,
              std::vector<Word>& out);
  bool add_part(Draft& draft, const Part& part, const ShellState& state, bool first, bool last);
  bool add_values(Draft& draft, const std::vector<std::string>& values, bool quoted);
  bool add_tilde(Draft& draft, const Part& part, const ShellState& state, bool last);
  const std::vector<std::string>* values_of(const std::string& name, const ShellState& state);
  std::optional<std::vector<std::string>> glob(const Candidate& pattern, const ShellState& state,
                                               const DiskChanges& changes);
  // One segment of a glob, and what one way through the folders before it has found.
  struct GlobStep {
    GlobSegment segment;
    std::string slashes;  // behind it
    std::size_t bytes;
    bool final;
  };
  struct GlobWay {
    std::string written;
    std::string folder;
  };
  // Both add to `found`. False: what is there is not known.
  bool follow_name(const GlobStep& step, const GlobWay& way, const DiskChanges& changes,
                   std::vector<GlobWay>& found);
  bool follow_pattern(const GlobStep& step, const GlobWay& way, const DiskChanges& changes,
                      std::vector<GlobWay>& found);
  // Null: there is no such folder. Nothing: that is not known.
  std::optional<const std::vector<std::string>*> certain_names(const std::string& folder,
                                                               const DiskChanges& changes);
  const std::vector<std::string>* names_in(const std::string& folder, bool& unknown);
  // True if `.` or `..` may follow this folder. No value: unknown.
  std::optional<bool> has_dots(const std::string& folder, std::string_view dots,
                               const DiskChanges& changes);
  bool spend(std::size_t bytes);

  const ShellSetting& setting_;
  std::size_t budget_ = std::size_t{2} << 20;  // bytes that expansions may make
  std::size_t looks_ = 256;                    // folders that globs may look into
  std::size_t resolves_ = 64;                  // paths below copies that may be followed
  std::map<std::string, std::optional<std::vector<std::string>>> seen_{};
  std::vector<std::string> scratch_{};
};

}  // namespace sallyport::effects
