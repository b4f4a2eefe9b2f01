#include "app/completion.h"

#include <fmt/format.h>

#include <functional>

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
std::string quoted(std::string_view text) {
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
        const std::string pattern = path.empty() ? "*" : quoted(path);
        const std::string key = pattern + ":" + name;
        if (std::ranges::find(seen, key) != seen.end()) continue;
        seen.push_back(key);
        const std::string answer = !option.choices.empty()
                                       ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))",
                                                     quoted(joined(option.choices, " ")))
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
    if (!path.empty()) paths += fmt::format("      {}) path=\"$next\" ;;\n", quoted(path));
    std::vector<std::string> words = words_of(command);
    for (const std::string& name : names_of(command.options)) words.push_back(name);
    cases += fmt::format("    {}) words={} ;;\n", quoted(path), quoted(joined(words, " ")));
    if (command.takes_files) files += fmt::format("{}{}", files.empty() ? "" : "|", quoted(path));
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

std::string zsh_completion(const CommandInfo& root) {
  std::string cases;
  std::string paths;
  walk(root, "", [&](const std::string& path, const CommandInfo& command) {
    if (!path.empty()) paths += fmt::format("      {}) at=$next ;;\n", quoted(path));
    std::string described;
    const auto add = [&](std::string_view word, std::string_view text) {
      std::string escaped;
      for (const char c : word) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
      described += " " + quoted(fmt::format("{}:{}", escaped, text));
    };
    for (const CommandInfo& inner : command.commands) add(inner.name, inner.description);
    for (const std::string& word : command.words) add(word, "");
    for (const OptionInfo& option : command.options) {
      for (const std::string& name : option.names) add(name, option.description);
    }
    cases += fmt::format("    {}) known=({}) ;;\n", quoted(path), described);
  });
  std::string global;
  for (const OptionInfo& option : root.options) {
    for (const std::string& name : option.names) {
      global += " " + quoted(fmt::format("{}:{}", name, option.description));
    }
  }
  return fmt::format(R"SH(#compdef sallyport
# zsh completion for sallyport
_sallyport() {{
  local at='' next i
  local -a known
  for ((i = 2; i < CURRENT; ++i)); do
    next="${{at:+$at }}${{words[i]}}"
    case "$next" in
{})SH"
                     R"SH(    esac
  done
  case "$at" in
{})SH"
                     R"SH(  esac
  known+=({})
  _describe -o 'sallyport' known
  _files
}}
if [[ $funcstack[1] == _sallyport ]]; then
  _sallyport "$@"
else
  compdef _sallyport sallyport
fi
)SH",
                     paths, cases, global);
}

std::string fish_completion(const CommandInfo& root) {
  std::string out = "# fish completion for sallyport\ncomplete -c sallyport -f\n";
  const auto options = [&](const CommandInfo& command, const std::string& condition) {
    for (const OptionInfo& option : command.options) {
      out += "complete -c sallyport" + condition;
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        out += " -x -a " + quoted(joined(option.choices, " "));
      } else if (option.takes_value) {
        out += option.takes_file ? " -r -F" : " -x";
      }
      out += " -d " + quoted(option.description) + "\n";
    }
  };
  walk(root, "", [&](const std::string& path, const CommandInfo& command) {
    std::vector<std::string> inner;
    for (const CommandInfo& one : command.commands) inner.push_back(one.name);
    std::string condition;
    if (!path.empty()) {
      condition = "__fish_seen_subcommand_from " + path.substr(path.rfind(' ') + 1);
      const std::size_t parent = path.rfind(' ');
      if (parent != std::string::npos) {
        condition =
            "__fish_seen_subcommand_from " + path.substr(0, path.find(' ')) + "; and " + condition;
      }
    }
    for (const CommandInfo& one : command.commands) {
      std::string when =
          path.empty() ? "__fish_use_subcommand"
                       : condition + "; and not __fish_seen_subcommand_from " + joined(inner, " ");
      out += fmt::format("complete -c sallyport -n {} -a {} -d {}\n", quoted(when), one.name,
                         quoted(one.description));
    }
    for (const std::string& word : command.words) {
      out += fmt::format("complete -c sallyport -n {} -a {}\n", quoted(condition), word);
    }
    if (command.takes_files)
      out += fmt::format("complete -c sallyport -n {} -F\n", quoted(condition));
    options(command, path.empty() ? "" : " -n " + quoted(condition));
  });
  return out;
}

}  // namespace sallyport::app
