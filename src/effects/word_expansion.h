// Expands the words of a command: braces, `~`, variables, splitting and globs (RU-46, RU-47).
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "effects/command_line.h"
#include "effects/glob.h"
#include "effects/shell_state.h"
#include "effects/shell_syntax.h"

namespace sallyport::effects {

// Used for one line. It caches what it reads from disk, so that all words see the same.
class WordExpansion {
 public:
  explicit WordExpansion(const ShellSetting& setting) : setting_(setting) {}

  // The words that a word of a command expands to.
  std::vector<Word> fields(const WordSyntax& word, const ShellState& state,
                           const DiskChanges& changes);
  // Without braces, splitting and globs, as in assignments and here-documents.
  Word word(const std::vector<Part>& parts, const ShellState& state, bool tilde = true);
  // True if `.*` matches `.` and `..`, as in dash.
  bool dots_match() const { return dots_match_; }
  void set_dots_match(bool match) { dots_match_ = match; }
  // True if it is a folder that can be read within the limit of lookups.
  bool is_folder(const std::string& path);
  // True if it is a folder, or if that is unknown.
  bool may_be_folder(const std::string& path);
  // True if the path exists. Also false if that cannot be determined.
  bool exists(const std::string& path);
  // True if a link on the way from `root` to `below` may lead elsewhere. `below` begins with `/`.
  // Also true if the limit of lookups for this line is reached.
  bool leads_out(const std::string& root, const std::string& below);

 private:
  struct Candidate {
    std::string text;
    std::string active;  // for each byte, whether it may be a glob character
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
  // One segment of a glob, and one of the paths that the segments before it have matched.
  struct GlobStep {
    GlobSegment segment;
    std::string slashes;  // after it
    std::size_t bytes;
    bool final;
  };
  struct GlobWay {
    std::string written;
    std::string folder;
  };
  // Both add to `found`. They return false if the names there are unknown.
  bool follow_name(const GlobStep& step, const GlobWay& way, const DiskChanges& changes,
                   std::vector<GlobWay>& found);
  bool follow_pattern(const GlobStep& step, const GlobWay& way, const DiskChanges& changes,
                      std::vector<GlobWay>& found);
  // Null: the folder does not exist. No value: that is unknown.
  std::optional<const std::vector<std::string>*> certain_names(const std::string& folder,
                                                               const DiskChanges& changes);
  const std::vector<std::string>* names_in(const std::string& folder, bool& unknown);
  // True if `.` or `..` may follow this folder. No value: unknown.
  std::optional<bool> has_dots(const std::string& folder, std::string_view dots,
                               const DiskChanges& changes);
  bool spend(std::size_t bytes);

  const ShellSetting& setting_;
  bool dots_match_ = false;
  std::size_t budget_ = std::size_t{2} << 20;  // bytes that expansions may make
  std::size_t looks_ = 256;                    // folders that globs may read
  std::size_t resolves_ = 64;                  // paths below copies that may be followed
  std::map<std::string, std::optional<std::vector<std::string>>> seen_{};
  std::vector<std::string> scratch_{};
};

}  // namespace sallyport::effects
