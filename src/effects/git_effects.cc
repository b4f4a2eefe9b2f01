// The effects of git, by subcommand.
#include <algorithm>
#include <array>

#include "effects/host.h"
#include "effects/path_text.h"
#include "effects/program_effects.h"

namespace sallyport::effects {

namespace {

// Settings that do not change which programs run.
constexpr auto kHarmlessSettings = std::to_array<std::string_view>({"user.name",
                                                                    "user.email",
                                                                    "init.defaultbranch",
                                                                    "pull.rebase",
                                                                    "pull.ff",
                                                                    "push.default",
                                                                    "push.autosetupremote",
                                                                    "fetch.prune",
                                                                    "merge.ff",
                                                                    "merge.conflictstyle",
                                                                    "rebase.autostash",
                                                                    "color.ui",
                                                                    "core.autocrlf",
                                                                    "core.eol",
                                                                    "core.filemode",
                                                                    "core.ignorecase",
                                                                    "core.quotepath",
                                                                    "diff.algorithm",
                                                                    "rerere.enabled",
                                                                    "commit.gpgsign",
                                                                    "tag.gpgsign"});

class Git {
 public:
  Git(ShellReader& reader, const Invocation& call, const Subcommand& row, std::string name,
      std::size_t at)
      : reader_(reader),
        call_(call),
        row_(row),
        name_(std::move(name)),
        arguments_(read_arguments(call.words, at + 1, {.options = options_of(row.options)})) {}

  void run() {
    const std::size_t before = reader_.effect_count();
    option_effects(reader_, call_, arguments_);
    if (row_.effect_class == "fs.read") {
      read();
    } else if (row_.effect_class == "git.write") {
      write();
    } else if (row_.effect_class == "git.push") {
      push();
    } else if (row_.effect_class == "network.request") {
      fetch();
    } else if (row_.effect_class == "message.send") {
      reader_.add_plain("message.send");
    } else {
      reader_.add_plain("process.exec");
      const bool runs = name_ == "filter-branch" || name_ == "difftool" || name_ == "mergetool";
      if (runs) reader_.opaque(OpaqueReason::Configuration, call_);
    }
    if (arguments_.unclear && has_dangerous_option(options_of(row_.options)))
      reader_.opaque(OpaqueReason::Expansion, call_);
    if (reader_.effect_count() == before) reader_.add_here("fs.read", true);
  }

 private:
  bool has(std::string_view spelling) const { return arguments_.has(spelling); }
  // git accepts abbreviations of long options.
  bool may_have(std::string_view spelling) const {
    return has(spelling) || std::ranges::any_of(arguments_.options, [&](const GivenOption& given) {
             return given.option == nullptr && given.spelling.size() > 2 &&
                    given.spelling.starts_with("--") && spelling.starts_with(given.spelling);
           });
  }
  const std::string* operand(std::size_t index) const {
    return index < arguments_.operands.size() ? arguments_.operands[index].text() : nullptr;
  }
  bool first_is(std::initializer_list<std::string_view> words) const {
    const std::string* first = operand(0);
    return first != nullptr && std::ranges::find(words, *first) != words.end();
  }
  std::size_t count() const { return arguments_.operands.size(); }

  void read() {
    constexpr auto kPrinting = std::to_array<std::string_view>(
        {"grep", "show", "log", "whatchanged", "blame", "annotate", "cat-file", "diff", "diff-tree",
         "diff-files", "diff-index"});
    reader_.add_here("fs.read", true);
    if (std::ranges::find(kPrinting, name_) == kPrinting.end()) return;
    // Outside of a repository, `git diff` compares two files without an option.
    const bool no_tree = may_have("--no-index");
    const bool files = no_tree || (name_ == "diff" && arguments_.dashes);
    std::span<const Argument> operands = arguments_.operands;
    const bool pattern = name_ == "grep" && !arguments_.has('~') && !operands.empty();
    if (pattern && !operands[0].word.many) operands = operands.subspan(1);
    for (const Argument& operand : operands) {
      // An unknown word is a revision, or a file of the folder that is read anyway.
      if (files && !operand.word.known()) reader_.add_path("fs.read", operand, true);
      if (!operand.word.known()) continue;
      for (const std::string& text : operand.word.values) {
        const std::string path = no_tree ? text : path_in_tree(text);
        if (!path.empty() && path != ".") reader_.add_path("fs.read", literal(path), true);
        if (files && path != text) reader_.add_path("fs.read", literal(text), true);
      }
    }
    read_named_files();
  }

  // `grep -f FILE` and `log -L 1,5:FILE`.
  void read_named_files() {
    for (const GivenOption& given : arguments_.options) {
      if (!given.value) continue;
      if (given.spelling == "-f" && name_ == "grep") reader_.add_path("fs.read", *given.value);
      const bool lines = given.spelling == "-L" && name_ != "blame" && name_ != "annotate";
      const std::string* text = given.value->text();
      if (lines && text != nullptr && text->contains(':'))
        reader_.add_path("fs.read", literal(text->substr(text->rfind(':') + 1)));
    }
  }

  // The path in `REVISION:PATH` and behind the marks of a pathspec. Empty: there is none.
  static std::string path_in_tree(const std::string& text) {
    if (text.starts_with('/') || text.starts_with('.')) return text;
    if (text.starts_with(":!") || text.starts_with(":^")) return {};
    if (text.starts_with(":/")) return text.substr(2);
    const std::size_t marks = text.starts_with(":(") ? text.find(')') : std::string::npos;
    if (marks != std::string::npos) {
      return text.substr(0, marks).contains("exclude") ? std::string() : text.substr(marks + 1);
    }
    // `:0:PATH` is a file of the index.
    const bool stage = text.starts_with(':') && text.size() > 2 && text[2] == ':';
    const std::size_t colon = stage ? 2 : text.find(':');
    return colon == std::string::npos ? text : text.substr(colon + 1);
  }

  void write() {
    if (name_ == "config") return config();
    if (name_ == "remote") return remote();
    if (name_ == "submodule") return submodule();
    if (name_ == "worktree" && first_is({"list"})) return reader_.add_here("fs.read", true);
    if (name_ == "worktree" && first_is({"add"}) && count() > 1)
      reader_.add_path("fs.write", arguments_.operands[1], true);
    if (name_ == "worktree" && first_is({"remove"}) && count() > 1)
      reader_.add_path("fs.delete", arguments_.operands[1], true);
    if (name_ == "worktree" && first_is({"move"}) && count() > 2)
      reader_.add_path("fs.write", arguments_.operands[2], true);
    if (name_ == "init") {
      if (const Argument* folder = arguments_.value("--separate-git-dir"))
        reader_.add_path("fs.write", *folder, true);
    }
    if (name_ == "checkout-index") {
      if (const Argument* prefix = arguments_.value("--prefix"))
        reader_.add_path("fs.write", *prefix, true);
    }
    if (name_ == "apply" && may_have("--unsafe-paths")) reader_.add_path("fs.write", {}, true);
    // A template may contain hooks, which the next commit runs.
    if (name_ == "init" && has("--template")) reader_.opaque(OpaqueReason::Configuration, call_);
    if (name_ == "init" && count() > 0)
      return reader_.add_path("git.write", arguments_.operands[0]);
    if (name_ == "archive" || name_ == "bundle") {
      reader_.add_here("fs.read", true);
      if (name_ == "bundle" && first_is({"create"}) && count() > 1)
        reader_.add_path("fs.write", arguments_.operands[1]);
      return;
    }
    if (name_ == "format-patch") {
      reader_.add_here("fs.read", true);
      if (!has("--stdout") && arguments_.value("-o") == nullptr) reader_.add_here("fs.write");
      return;
    }
    if (name_ == "bisect" && first_is({"run"})) reader_.opaque(OpaqueReason::Configuration, call_);
    if (name_ == "diagnose" && arguments_.value("-o") == nullptr) reader_.add_here("fs.write");
    if (name_ == "merge-file") merge_file();
    if (name_ == "pack-objects") {
      for (const Argument& file : arguments_.operands) reader_.add_path("fs.write", file);
    }
    if (name_ == "maintenance") maintenance();
    if (name_ == "apply" || name_ == "am" || name_ == "hash-object") {
      for (const Argument& file : arguments_.operands) reader_.add_path("fs.read", file);
    }
    if (lists()) return reader_.add_here("fs.read", true);
    reader_.add_here(discards() ? "git.discard" : "git.write");
  }

  // It merges into the first file, also outside of a repository.
  void merge_file() {
    const bool prints = has("--stdout") && !may_have("--no-stdout");
    for (std::size_t i = 0; i < count(); ++i) {
      reader_.add_path("fs.read", arguments_.operands[i]);
      const bool target = i == 0 || arguments_.unclear;
      if (target && !prints) reader_.add_path("fs.write", arguments_.operands[i]);
    }
  }

  // `start` installs timers. It and `register` write into the settings of the user.
  void maintenance() {
    if (first_is({"start", "stop"})) reader_.opaque(OpaqueReason::Configuration, call_);
    const bool changes = first_is({"start", "register", "unregister"});
    if (changes && arguments_.value("--config-file") == nullptr)
      reader_.add_path("fs.write", literal(reader_.setting().home + "/.gitconfig"));
  }

  bool lists() const {
    if (name_ == "branch" || name_ == "tag") {
      const bool branch = name_ == "branch";
      // `-n` prints lines of tags, and `tag -v` checks them.
      const bool listing = count() == 0 || has("-l") || has("--list") || has("--contains") ||
                           has("--show-current") || has("--merged") || has("--no-merged") ||
                           has("--points-at") || (!branch && (has("-n") || has("-v")));
      const bool changes = has("-d") || has("-D") || has("-m") || has("-M") || has("-c") ||
                           has("-C") || has("-u") || has("-f") || may_have("--delete") ||
                           may_have("--move") || may_have("--force") ||
                           may_have("--unset-upstream") || may_have("--edit-description");
      return !changes && !arguments_.unclear && listing;
    }
    if (name_ == "stash") return first_is({"list", "show"});
    if (name_ == "reflog") return count() == 0 || first_is({"show", "exists"});
    if (name_ == "notes") return count() == 0 || first_is({"list", "show"});
    if (name_ == "bisect") return first_is({"log", "view"});
    if (name_ == "clean")
      return (has("-n") || has("--dry-run")) && !may_have("--no-dry-run") && !arguments_.unclear;
    if (name_ == "sparse-checkout") return first_is({"list"});
    if (name_ == "hash-object") return !has("-w");
    return false;
  }

  bool discards() const {
    if (name_ == "reset") return may_have("--hard") || may_have("--merge") || may_have("--keep");
    if (name_ == "clean") return true;
    if (name_ == "restore")
      return !has("--staged") && !has("-S") ? true : may_have("--worktree") || has("-W");
    if (name_ == "checkout" || name_ == "switch") {
      if (has("-f") || may_have("--force") || may_have("--discard-changes") || has("-B") ||
          has("-C"))
        return true;
      if (name_ == "switch") return false;
      if (arguments_.dashes || has("-p") || may_have("--ours") || may_have("--theirs")) return true;
      if (has("-b") || has("--orphan")) return false;
      const std::string* first = operand(0);
      if (first != nullptr && reader_.is_file(*first)) return true;
      return count() > 1 ||
             (first != nullptr &&
              (first->starts_with('.') || first->starts_with('/') || first->starts_with(':')));
    }
    if (name_ == "branch")
      return has("-D") || has("-M") || has("-C") ||
             ((has("-d") || may_have("--delete")) && (has("-f") || may_have("--force"))) ||
             ((has("-f") || may_have("--force")) && count() > 0);
    if (name_ == "tag")
      return has("-d") || may_have("--delete") || has("-f") || may_have("--force");
    if (name_ == "stash") return first_is({"drop", "clear"});
    if (name_ == "reflog") return first_is({"expire", "delete"});
    if (name_ == "gc" || name_ == "prune") return name_ == "prune" || may_have("--prune");
    if (name_ == "update-ref") return has("-d") || may_have("--stdin");
    if (name_ == "worktree") return first_is({"remove"}) && (has("-f") || may_have("--force"));
    if (name_ == "rm") return has("-f") || may_have("--force");
    if (name_ == "checkout-index") return has("-f") || may_have("--force");
    if (name_ == "read-tree") return may_have("--reset");
    return false;
  }

  void config() {
    if (arguments_.has_unknown()) reader_.opaque(OpaqueReason::Configuration, call_);
    const bool asks =
        has("--get") || has("--get-all") || has("--get-regexp") || has("-l") || has("--list") ||
        has("--get-urlmatch") || has("--show-origin") || first_is({"get", "list"}) ||
        (count() == 1 && !has("--unset") && !has("--unset-all") && !has("--remove-section") &&
         !has("-e") && !has("--edit") && !arguments_.unclear);
    if (asks) return reader_.add_here("fs.read", true);
    if (has("--global")) {
      reader_.add_path("fs.write", literal(reader_.setting().home + "/.gitconfig"));
    } else if (has("--system")) {
      reader_.add_path("fs.write", literal("/etc/gitconfig"));
    } else if (const Argument* file = arguments_.value("-f")) {
      reader_.add_path("fs.write", *file);
    } else {
      reader_.add_path("fs.write", literal(".git/config"));
    }
    reader_.add_here("git.write");
    const std::string* key = operand(first_is({"set", "unset"}) ? 1 : 0);
    std::string lower = key == nullptr ? "" : *key;
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    if (std::ranges::find(kHarmlessSettings, lower) == kHarmlessSettings.end())
      reader_.opaque(OpaqueReason::Configuration, call_);
  }

  void remote() {
    if (count() == 0 || first_is({"get-url"})) return reader_.add_here("fs.read", true);
    const bool asks = first_is({"set-head"}) && (has("-a") || may_have("--auto"));
    if (asks || first_is({"show", "update", "prune"})) reader_.add_host({});
    if (first_is({"add"}) && (has("-f") || may_have("--fetch")))
      address(count() > 2 ? arguments_.operands[2] : Argument{});
    reader_.add_here("git.write");
    for (const Argument& word : arguments_.operands) {
      const std::string* text = word.text();
      if (text != nullptr && text->contains("::")) reader_.opaque(OpaqueReason::Interpreter, call_);
    }
  }

  void submodule() {
    if (count() == 0 || first_is({"status", "summary"})) return reader_.add_here("fs.read", true);
    if (first_is({"foreach"})) reader_.opaque(OpaqueReason::Code, call_);
    if (first_is({"add", "update"}))
      address(count() > 1 && first_is({"add"}) ? arguments_.operands[1] : Argument{});
    reader_.add_here("git.write");
  }

  void push() {
    const Argument* target = arguments_.value("--repo");
    if (target == nullptr && count() > 0) target = &arguments_.operands[0];
    EffectHost host{.unknown = true};
    if (const std::string* text = target == nullptr ? nullptr : target->text()) {
      if (text->contains("::")) reader_.opaque(OpaqueReason::Interpreter, call_);
      if (const auto named = host_of(*text)) host = host_from(*named);
    }
    for (const auto& folder : folders()) {
      reader_.add({.effect_class = "git.push",
                   .path = EffectPath{.text = ".", .folder = folder},
                   .host = host,
                   .command = reader_.command()});
    }
  }

  void fetch() {
    const bool bare = count() == 0;
    address(bare ? Argument{} : arguments_.operands[0]);
    if (name_ == "ls-remote") return;
    if (name_ != "clone") return reader_.add_here("git.write");
    if (count() > 1) return reader_.add_path("fs.write", arguments_.operands[1], true);
    const std::string* text = operand(0);
    if (text == nullptr) return reader_.add_path("fs.write", {}, true);
    std::string name = *text;
    while (name.ends_with('/')) name.pop_back();
    if (name.ends_with(".git")) name.resize(name.size() - 4);
    while (name.ends_with('/')) name.pop_back();
    const std::size_t cut = name.find_last_of("/:");
    reader_.add_path("fs.write", literal(cut == std::string::npos ? name : name.substr(cut + 1)),
                     true);
  }

  // The place of a repository: another machine, a folder, or a name that only git knows.
  void address(const Argument& where) {
    const std::string* text = where.text();
    if (text == nullptr) return reader_.add_host({});
    if (text->contains("::")) reader_.opaque(OpaqueReason::Interpreter, call_);
    if (is_file_address(*text)) return reader_.add_host(where);
    if (const auto host = host_of(*text)) return reader_.add_host(literal(*host));
    const bool path = text->starts_with('/') || text->starts_with('.') || text->starts_with('~') ||
                      (name_ == "clone" && !text->contains(':'));
    if (path) return reader_.add_path("fs.read", where, true);
    reader_.add_host({});
  }

  static std::optional<std::string> host_of(const std::string& text) {
    if (text.contains("://")) return text;
    const std::size_t colon = text.find(':');
    const std::size_t slash = text.find('/');
    if (colon == std::string::npos || (slash != std::string::npos && slash < colon))
      return std::nullopt;
    return text.substr(0, colon);
  }

  std::vector<std::optional<std::string>> folders() const {
    std::vector<std::optional<std::string>> out;
    for (const std::string& folder : reader_.state().folders) out.emplace_back(folder);
    if (out.empty()) out.emplace_back();
    return out;
  }

  ShellReader& reader_;
  const Invocation& call_;
  const Subcommand& row_;
  std::string name_;
  Arguments arguments_;
};

}  // namespace

void git_effects(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("git")->options);
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = options, .stop_at_operand = true});
  option_effects(reader, call, arguments);
  const std::size_t at = arguments.next;
  if (at >= call.words.size()) return reader.add_plain("none");
  const std::string* name = call.words[at].text();
  if (name == nullptr) return reader.opaque(OpaqueReason::Expansion, call);
  const Subcommand* row = find_subcommand("git", *name);
  if (row == nullptr) return reader.opaque(OpaqueReason::Alias, call);
  const ShellState before = reader.state();
  for (const GivenOption& given : arguments.options) {
    const bool moves =
        given.spelling == "-C" || given.spelling == "--git-dir" || given.spelling == "--work-tree";
    if (moves && given.value) reader.set_folder(*given.value);
  }
  Git(reader, call, *row, *name, at).run();
  reader.state() = before;
}

}  // namespace sallyport::effects
