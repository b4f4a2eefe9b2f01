// Programs that start another one (RU-50).
#include <algorithm>
#include <utility>

#include "effects/program_effects.h"
#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

Arguments wrapper_arguments(const Invocation& call, const std::vector<Option>& options) {
  return read_arguments(call.words, 1, {.options = options, .stop_at_operand = true});
}

struct CmakeTool {
  std::string_view name;
  std::string_view program;
  bool recursive = false;
};

constexpr CmakeTool kCmakeTools[] = {{"rm", "rm"},
                                     {"remove", "rm"},
                                     {"remove_directory", "rm", true},
                                     {"copy", "cp"},
                                     {"copy_if_different", "cp"},
                                     {"copy_directory", "cp", true},
                                     {"rename", "mv"},
                                     {"touch", "touch"},
                                     {"touch_nocreate", "touch"},
                                     {"make_directory", "mkdir"},
                                     {"cat", "cat"},
                                     {"echo", "echo"},
                                     {"env", "env"},
                                     {"time", "time"},
                                     {"tar", "tar"},
                                     {"create_symlink", "ln"},
                                     {"create_hardlink", "ln"},
                                     {"copy_directory_if_different", "cp", true},
                                     {"md5sum", "md5sum"},
                                     {"sha256sum", "sha256sum"},
                                     {"compare_files", "cmp"}};

void run_rest(ShellReader& reader, const Invocation& call, std::size_t next) {
  if (next < call.words.size()) reader.run(rest_of(call, next));
}

// Reads `NAME=value` words before a command. Returns the index where the command starts.
std::size_t skip_assignments(Invocation& call, std::size_t next) {
  for (; next < call.words.size(); ++next) {
    const std::string* text = call.words[next].text();
    const std::size_t equals = text == nullptr ? std::string::npos : text->find('=');
    if (equals == std::string::npos || equals == 0) break;
    const std::string name = text->substr(0, equals);
    call.has_environment = call.has_environment || !is_name(name) || !is_harmless_variable(name);
  }
  return next;
}

void env(ShellReader& reader, const Invocation& given) {
  const std::vector<Option>& options = options_of(find_program("env")->options);
  Invocation call = given;
  const Arguments arguments = wrapper_arguments(call, options);
  option_effects(reader, call, arguments);
  if (arguments.has_unknown()) reader.opaque(OpaqueReason::Interpreter, call);
  if (arguments.has('!')) return;
  // `env -` is `env -i`.
  const std::string* first =
      arguments.next < call.words.size() ? call.words[arguments.next].text() : nullptr;
  const std::size_t start = arguments.next + (first != nullptr && *first == "-" ? 1 : 0);
  const std::size_t next = skip_assignments(call, start);
  if (next >= call.words.size()) return reader.add_plain("none");
  const ShellState before = reader.state();
  if (const Argument* folder = arguments.value("-C")) reader.set_folder(*folder);
  run_rest(reader, call, next);
  reader.state() = before;
}

void privileged(ShellReader& reader, const Invocation& given, const std::string& name) {
  const std::vector<Option>& sudoOptions = options_of(find_program("sudo")->options);
  const std::vector<Option>& doasOptions = options_of(find_program("doas")->options);
  const std::vector<Option>& pkexecOptions = options_of(find_program("pkexec")->options);
  reader.add_plain("privilege");
  Invocation call = given;
  const Arguments arguments = wrapper_arguments(call, name == "sudo"   ? sudoOptions
                                                      : name == "doas" ? doasOptions
                                                                       : pkexecOptions);
  if (arguments.has_unknown()) reader.opaque(OpaqueReason::Interpreter, call);
  if (name == "sudo" && arguments.has("--edit")) {
    for (std::size_t i = arguments.next; i < call.words.size(); ++i)
      reader.add_path("fs.write", call.words[i]);
    return;
  }
  const std::size_t next = skip_assignments(call, arguments.next);
  if (next >= call.words.size()) {
    const bool shell = arguments.has("--shell") || arguments.has("--login") || arguments.has("-s");
    if (shell) {
      if (call.input.remote) reader.remote_code();
      reader.opaque(OpaqueReason::Stdin, call);
    }
    return;
  }
  const ShellState before = reader.state();
  if (name == "sudo" && arguments.has("--login")) reader.state().folders.clear();
  if (const Argument* folder = arguments.value("-D")) reader.set_folder(*folder);
  run_rest(reader, call, next);
  reader.state() = before;
}

void su(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("su")->options);
  reader.add_plain("privilege");
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  const Argument* text = arguments.value('c');
  if (text == nullptr) {
    if (call.input.remote) reader.remote_code();
    return reader.opaque(OpaqueReason::Stdin, call);
  }
  const ShellState before = reader.state();
  if (arguments.has("--login") || std::ranges::any_of(arguments.operands, [](const Argument& each) {
        return each.text() != nullptr && *each.text() == "-";
      })) {
    reader.state().folders.clear();
  }
  reader.run_text(call, *text, OpaqueReason::Code, true);
  reader.state() = before;
}

// The number of `xargs` options that replace a mark or limit words or lines. Their order decides
// which of them counts.
std::size_t ways_to_add_words(const Arguments& arguments) {
  return static_cast<std::size_t>(
      std::ranges::count_if(arguments.options, [](const GivenOption& given) {
        return given.option != nullptr &&
               (given.option->meaning == 'r' || given.option->meaning == 'a');
      }));
}

void xargs(ShellReader& reader, const Invocation& given) {
  const std::vector<Option>& options = options_of(find_program("xargs")->options);
  const Arguments arguments = wrapper_arguments(given, options);
  option_effects(reader, given, arguments);
  Invocation call = rest_of(given, arguments.next);
  call.input = {};  // `xargs` gives its command nothing to read
  if (call.words.empty()) return reader.add_plain("none");
  const Argument* mark = arguments.value('r');
  const bool replaces = mark != nullptr || arguments.has("--replace");
  const bool several = replaces && ways_to_add_words(arguments) > 1;
  if (several || arguments.has_unknown()) reader.opaque(OpaqueReason::Interpreter, given);
  const std::string text = mark != nullptr && mark->text() != nullptr ? *mark->text() : "{}";
  if (!replaces) {
    call.words.push_back({.word = {.many = true}, .remote = given.input.remote});
  } else {
    for (Argument& word : call.words) {
      const bool holds = (mark != nullptr && mark->text() == nullptr) ||
                         std::ranges::any_of(word.word.values, [&](const std::string& value) {
                           return value.contains(text);
                         });
      if (holds) word = {.word = {}, .remote = given.input.remote};
    }
  }
  const StandardInput outer = std::exchange(reader.input(), {});
  reader.run(std::move(call));
  reader.input() = outer;
}

bool contains_text(const Argument& word, std::string_view text) {
  return std::ranges::any_of(word.word.values,
                             [&](const std::string& value) { return value.contains(text); });
}

// The program gives its words to a shell, once for each argument.
void parallel(ShellReader& reader, const Invocation& given) {
  const std::vector<Option>& options = options_of(find_program("parallel")->options);
  const Arguments arguments = wrapper_arguments(given, options);
  option_effects(reader, given, arguments);
  if (arguments.has_unknown()) reader.opaque(OpaqueReason::Interpreter, given);
  // `{= .. =}` is a program in Perl.
  const auto runs = [](const Argument& word) { return contains_text(word, "{="); };
  if (std::ranges::any_of(given.words, runs)) reader.opaque(OpaqueReason::Code, given);
  Invocation call = rest_of(given, arguments.next);
  const auto end = std::ranges::find_if(call.words, [](const Argument& word) {
    return word.text() != nullptr && word.text()->starts_with(":::");
  });
  call.words.erase(end, call.words.end());
  if (call.words.empty()) {
    if (given.input.remote) reader.remote_code();
    return reader.opaque(OpaqueReason::Stdin, given);
  }
  // What the program replaces in each word.
  std::vector<std::string> marks = {"{"};
  for (const GivenOption& option : arguments.options) {
    const bool names = option.value && (option.spelling == "-I" || option.spelling == "-i");
    if (!names) continue;
    const std::string* mark = option.value->text();
    const bool many = marks.size() > 8;
    if (mark == nullptr || mark->empty() || many) return reader.opaque(OpaqueReason::Code, given);
    marks.push_back(*mark);
  }
  for (Argument& word : call.words) {
    const bool plain =
        word.word.known() && std::ranges::all_of(word.word.values, [](const std::string& value) {
          return value.find_first_of(" \t\n;&|<>()$`\\\"'*?[#~%") == std::string::npos;
        });
    if (!plain) return reader.opaque(OpaqueReason::Code, given);
    const bool replaced = std::ranges::any_of(
        marks, [&](const std::string& mark) { return contains_text(word, mark); });
    if (replaced) word = {};
  }
  call.words.push_back({.word = {.many = true}});
  reader.run(std::move(call));
}

// Words that a shell reads as one line.
Argument joined_words(const Invocation& call, std::size_t from) {
  Argument out{.word = {.values = {""}}};
  for (std::size_t i = from; i < call.words.size(); ++i) {
    const std::string* text = call.words[i].text();
    out.remote = out.remote || call.words[i].remote;
    if (text == nullptr) return {.remote = out.remote};
    if (i > from) out.word.values[0] += ' ';
    out.word.values[0] += *text;
  }
  return out;
}

void watch(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("watch")->options);
  const Arguments arguments = wrapper_arguments(call, options);
  option_effects(reader, call, arguments);
  if (arguments.has_unknown()) reader.opaque(OpaqueReason::Interpreter, call);
  if (arguments.next >= call.words.size()) return reader.add_plain("none");
  if (arguments.has("--exec")) return run_rest(reader, call, arguments.next);
  reader.run_text(call, joined_words(call, arguments.next), OpaqueReason::Code, true);
}

void flock(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("flock")->options);
  const Arguments arguments = wrapper_arguments(call, options);
  if (arguments.next >= call.words.size()) return reader.add_plain("none");
  const std::string* file = call.words[arguments.next].text();
  const bool number =
      file != nullptr && std::ranges::all_of(*file, [](char c) { return c >= '0' && c <= '9'; });
  const std::size_t next = arguments.next + 1;
  // An open file by its number; with a command after it, the number is a file name.
  const bool lone = next >= call.words.size() && arguments.value('c') == nullptr;
  if (number && lone) return reader.add_plain("none");
  if (arguments.has_unknown()) reader.opaque(OpaqueReason::Interpreter, call);
  reader.add_path("fs.write", call.words[arguments.next]);
  if (const Argument* text = arguments.value('c'))
    return reader.run_text(call, *text, OpaqueReason::Code, true);
  const std::string* option = next < call.words.size() ? call.words[next].text() : nullptr;
  if (option != nullptr && (*option == "-c" || *option == "--command")) {
    if (next + 1 < call.words.size())
      reader.run_text(call, call.words[next + 1], OpaqueReason::Code, true);
    return;
  }
  run_rest(reader, call, next);
}

// `jobs -x` runs a command and puts process ids in the place of `%1`.
void jobs(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("jobs")->options);
  const Arguments arguments = wrapper_arguments(call, options);
  const bool more = arguments.next < call.words.size();
  // An unknown word may be `-x`.
  const bool unknown = arguments.unclear || (more && !call.words[arguments.next].word.known());
  if (unknown && !arguments.has("-x")) reader.opaque(OpaqueReason::Expansion, call);
  if (!arguments.has("-x") || !more) return reader.add_plain("none");
  Invocation started = rest_of(call, arguments.next);
  for (Argument& word : started.words) {
    const bool job = std::ranges::any_of(
        word.word.values, [](const std::string& value) { return value.starts_with('%'); });
    if (job) word.word = {};
  }
  reader.run(std::move(started));
}

}  // namespace

bool wrapper_effects(ShellReader& reader, const Invocation& call, const std::string& name) {
  const std::vector<Option>& execOptions = options_of(find_program("exec")->options);
  const std::vector<Option>& commandOptions = options_of(find_program("command")->options);
  if (name == "env") {
    env(reader, call);
  } else if (name == "sudo" || name == "doas" || name == "pkexec") {
    privileged(reader, call, name);
  } else if (name == "su") {
    su(reader, call);
  } else if (name == "xargs") {
    xargs(reader, call);
  } else if (name == "parallel") {
    parallel(reader, call);
  } else if (name == "watch") {
    watch(reader, call);
  } else if (name == "flock") {
    flock(reader, call);
  } else if (name == "jobs") {
    jobs(reader, call);
  } else if (name == "exec" || name == "command" || name == "builtin") {
    const Arguments arguments =
        wrapper_arguments(call, name == "exec" ? execOptions : commandOptions);
    if (arguments.next >= call.words.size() || (name == "command" && arguments.has('N'))) {
      reader.add_plain("none");
    } else {
      run_rest(reader, call, arguments.next);
    }
  } else {
    return false;
  }
  return true;
}

namespace {

// `strace -o '|CMD'` and `-o '!CMD'` give the log to a command.
void strace_output(ShellReader& reader, const Invocation& call, const Arguments& arguments) {
  for (const GivenOption& given : arguments.options) {
    const bool output = given.option != nullptr && given.option->meaning == 'o' && given.value;
    if (!output) continue;
    if (!given.value->word.known()) reader.opaque(OpaqueReason::Interpreter, call);
    if (given.value->word.values.empty()) reader.add_path("fs.write", *given.value);
    for (const std::string& text : given.value->word.values) {
      if (text.starts_with('|') || text.starts_with('!')) {
        reader.run_text(call, literal(text.substr(1)), OpaqueReason::Code, true);
      } else {
        reader.add_path("fs.write", literal(text));
      }
    }
  }
}

}  // namespace

void wrapped_effects(ShellReader& reader, const Invocation& call, const Program& row,
                     const std::string& name) {
  const Arguments arguments = wrapper_arguments(call, options_of(row.options));
  option_effects(reader, call, arguments);
  if (name == "strace") strace_output(reader, call, arguments);
  const std::size_t next = arguments.next + static_cast<std::size_t>(row.skip);
  // `nice -5`: an unlisted letter has no value. An unlisted long option may have one.
  if (arguments.has_unknown()) reader.opaque(OpaqueReason::Interpreter, call);
  // Without a command, `chroot` starts a shell.
  const bool shell = name == "chroot" && next == call.words.size();
  if (shell && call.input.remote) reader.remote_code();
  if (shell) return reader.opaque(OpaqueReason::Stdin, call);
  if (next >= call.words.size()) return reader.add_plain("none");
  if (name != "chroot") return reader.run(rest_of(call, next));
  const std::string* root = call.words[next - 1].text();
  reader.run_in_root(rest_of(call, next), root != nullptr && *root == "/");
}

std::optional<Invocation> cmake_tool(const Invocation& call) {
  const std::string* option = call.words.size() > 2 ? call.words[1].text() : nullptr;
  const std::string* name = option != nullptr && *option == "-E" ? call.words[2].text() : nullptr;
  if (name == nullptr) return std::nullopt;
  const auto* const tool =
      std::ranges::find(kCmakeTools, std::string_view(*name), &CmakeTool::name);
  if (tool == std::end(kCmakeTools)) return std::nullopt;
  Invocation inner = rest_of(call, 2);
  inner.words[0] = literal(std::string(tool->program));
  if (tool->recursive) inner.words.insert(inner.words.begin() + 1, literal("-r"));
  return inner;
}

}  // namespace sallyport::effects
