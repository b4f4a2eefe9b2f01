#include "cli/completion.h"

#include <fmt/format.h>

#include <functional>

#include "base/try.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

// Visits every command with the words that lead to it, the root first.
using Visit = std::function<void(const std::string& path, const CommandInfo& command)>;
void walk(const CommandInfo& command, const std::string& path, const Visit& visit) {
  visit(path, command);
  for (const CommandInfo& inner : command.commands) {
    walk(inner, path.empty() ? inner.name : path + " " + inner.name, visit);
  }
}

std::vector<std::string> names_of(const std::vector<OptionInfo>& options) {
  std::vector<std::string> names;
  for (const OptionInfo& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> words_of(const CommandInfo& command) {
  std::vector<std::string> words = command.words;
  for (const CommandInfo& inner : command.commands) words.push_back(inner.name);
  return words;
}

// Single quotes for every shell here.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// `--format) COMPREPLY=(...) ;;` for each option with a value, once per name.
std::string bash_values(const CommandInfo& root) {
  std::string out;
  std::vector<std::string> seen;
  walk(root, "", [&](const std::string& path, const CommandInfo& command) {
    for (const OptionInfo& option : command.options) {
      if (!option.takes_value) continue;
      for (const std::string& name : option.names) {
        const std::string pattern = path.empty() ? "*" : in_quotes(path);
        const std::string key = fmt::format("{}:{}", pattern, name);
        if (std::ranges::find(seen, key) != seen.end()) continue;
        seen.push_back(key);
        const std::string answer = !option.choices.empty()
                                       ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))",
                                                     in_quotes(joined(option.choices, " ")))
                                   : option.takes_file ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                                                       : "COMPREPLY=()";
        out += fmt::format("    {}:{}) {}; return ;;\n", pattern, name, answer);
      }
    }
  });
  return out;
}

}  // namespace

std::string bash_completion(const CommandInfo& root) {
  std::string paths;
  std::string cases;
  std::string files;
  walk(root, "", [&](const std::string& path, const CommandInfo& command) {
    if (!path.empty()) paths += fmt::format("      {}) path=\"$next\" ;;\n", in_quotes(path));
    std::vector<std::string> words = words_of(command);
    for (const std::string& name : names_of(command.options)) words.push_back(name);
    cases += fmt::format("    {}) words={} ;;\n", in_quotes(path), in_quotes(joined(words, " ")));
    if (command.takes_files)
      files += fmt::format("{}{}", files.empty() ? "" : "|", in_quotes(path));
  });
  return fmt::format(
      R"SH(# bash completion for sallyport; `source <(sallyport completion bash)`
_sallyport() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path='' next words i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    case "$next" in
{})SH"
      R"SH(    esac
  done
  case "$path:$before" in
{})SH"
      R"SH(  esac
  case "$path" in
{})SH"
      R"SH(  esac
  COMPREPLY=($(compgen -W "$words {}" -- "$word"))
  case "$path" in
    {}) [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _sallyport sallyport
)SH",
      paths, bash_values(root), cases, joined(names_of(root.options), " "), files);
}

namespace {

// `'name:what it does' ...` as _describe wants it.
std::string described(std::string_view word, std::string_view text) {
  std::string escaped;
  for (const char c : word) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
  return " " + in_quotes(fmt::format("{}:{}", escaped, text));
}

std::string described(const std::vector<OptionInfo>& options) {
  std::string out;
  for (const OptionInfo& option : options) {
    for (const std::string& name : option.names) out += described(name, option.description);
  }
  return out;
}

}  // namespace

std::string zsh_completion(const CommandInfo& root) {
  std::string cases;
  std::string paths;
  walk(root, "", [&](const std::string& path, const CommandInfo& command) {
    if (!path.empty()) paths += fmt::format("      {}) at=$next ;;\n", in_quotes(path));
    std::string verbs;
    for (const CommandInfo& inner : command.commands)
      verbs += described(inner.name, inner.description);
    for (const std::string& word : command.words) verbs += described(word, "");
    cases += fmt::format("    {}) verbs=({}) options=({}) ;;\n", in_quotes(path), verbs,
                         path.empty() ? "" : described(command.options));
  });
  return fmt::format(R"SH(#compdef sallyport
# zsh completion for sallyport
_sallyport() {{
  local at='' next i
  local -a verbs options
  for ((i = 2; i < CURRENT; ++i)); do
    next="${{at:+$at }}${{words[i]}}"
    case "$next" in
{})SH"
                     R"SH(    esac
  done
  case "$at" in
{})SH"
                     R"SH(  esac
  options+=({})
  (( $#verbs )) && _describe 'command' verbs
  _describe -o 'option' options
  (( $#verbs )) || _files
}}
if [[ $funcstack[1] == _sallyport ]]; then
  _sallyport "$@"
else
  compdef _sallyport sallyport
fi
)SH",
                     paths, cases, described(root.options));
}

namespace {

// True where the words of `path` have been typed. A word may be a command here and the name of
// another one elsewhere, so a first word also excludes the other first words.
std::string fish_condition(const CommandInfo& root, const std::string& path) {
  std::string condition;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find(' ', begin), path.size());
    condition += (condition.empty() ? "" : "; and ") +
                 ("__fish_seen_subcommand_from " + path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (path.find(' ') != std::string::npos) return condition;
  std::vector<std::string> others;
  for (const CommandInfo& other : root.commands) {
    if (other.name != path) others.push_back(other.name);
  }
  return condition + "; and not __fish_seen_subcommand_from " + joined(others, " ");
}

}  // namespace

std::string fish_completion(const CommandInfo& root) {
  std::string out = "# fish completion for sallyport\ncomplete -c sallyport -f\n";
  const auto options = [&](const CommandInfo& command, const std::string& condition) {
    for (const OptionInfo& option : command.options) {
      out += "complete -c sallyport" + condition;
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        out += " -x -a " + in_quotes(joined(option.choices, " "));
      } else if (option.takes_value) {
        out += option.takes_file ? " -r -F" : " -x";
      }
      out += " -d " + in_quotes(option.description) + "\n";
    }
  };
  walk(root, "", [&](const std::string& path, const CommandInfo& command) {
    const std::string condition = path.empty() ? "" : fish_condition(root, path);
    std::vector<std::string> inner;
    for (const CommandInfo& one : command.commands) inner.push_back(one.name);
    for (const CommandInfo& one : command.commands) {
      const std::string when =
          path.empty() ? "__fish_use_subcommand"
                       : condition + "; and not __fish_seen_subcommand_from " + joined(inner, " ");
      out += fmt::format("complete -c sallyport -n {} -a {} -d {}\n", in_quotes(when), one.name,
                         in_quotes(one.description));
    }
    for (const std::string& word : command.words) {
      out += fmt::format("complete -c sallyport -n {} -a {}\n", in_quotes(condition), word);
    }
    if (command.takes_files)
      out += fmt::format("complete -c sallyport -n {} -F\n", in_quotes(condition));
    options(command, path.empty() ? "" : " -n " + in_quotes(condition));
  });
  return out;
}

namespace {

struct CompletionOptions {
  std::string shell;
};

Result<int> completion(const Context&, const CompletionOptions& options) {
  const CommandInfo table = command_table();
  SALLYPORT_CHECK_OK(write_output(std::nullopt, options.shell == "bash"  ? bash_completion(table)
                                                : options.shell == "zsh" ? zsh_completion(table)
                                                                         : fish_completion(table)));
  return 0;
}

const Command kCompletion(
    "completion", "print a completion script for a shell", completion,
    [](Syntax& syntax, CompletionOptions& options) {
      syntax.text("shell", options.shell, "your shell").required().choices({"bash", "zsh", "fish"});
    });

}  // namespace

}  // namespace sallyport::app
