#include "effects/program_effects.h"

#include <algorithm>

#include "effects/path_text.h"
#include "effects/written_names.h"

namespace sallyport::effects {

namespace {

bool is_dash(const Argument& argument) {
  const std::string* text = argument.text();
  return text != nullptr && *text == "-";
}

void each_path(ShellReader& reader, std::string_view effect_class, std::span<const Argument> paths,
               bool recursive) {
  for (const Argument& path : paths) {
    if (!is_dash(path)) reader.add_path(effect_class, path, recursive);
  }
}

// `cp`, `mv`, `ln`, `install`: the last operand, or the value of `-t`, is the target.
void to_target(ShellReader& reader, const Program& row, const Arguments& arguments) {
  std::vector<Argument> sources = arguments.operands;
  Argument target;
  if (const Argument* given = arguments.value('T')) {
    target = *given;
  } else if (sources.size() > 1) {
    target = sources.back();
    sources.pop_back();
  } else if (row.operands == Operands::Link && !sources.empty()) {
    const std::string* text = sources[0].text();
    if (text != nullptr) target = literal(std::string(last_segment(*text)));
  } else if (sources.empty()) {
    return reader.add_plain("none");
  }
  // The end may be any number of words, so the target is unknown.
  if (arguments.unclear && !sources.empty() && sources.back().word.many) target = {};
  const bool recursive = arguments.has('R') || arguments.has("--archive");
  const bool keeps_links = arguments.has('L');
  const bool in_target = arguments.has('T') || sources.size() > 1 || may_be_folder(reader, target);
  if (row.operands == Operands::Copy) each_path(reader, "fs.read", sources, recursive);
  if (row.operands == Operands::Move) each_path(reader, "fs.delete", sources, false);
  reader.add_path("fs.write", target, recursive);
  if (in_target && !arguments.has("-T"))
    add_files_in(reader, target, sources,
                 {.whole = arguments.has("--parents"), .recursive = recursive});
  for (const Argument& source : sources) {
    if (reader.was_downloaded(source)) reader.mark_downloaded(target, source);
  }
  if (row.operands != Operands::Copy || keeps_links) {
    reader.make_link(target, sources);
  } else if (recursive && !arguments.has("--dereference")) {
    reader.copy_tree(target, sources);
  }
}

// `grep`: the first operand is a pattern, unless an option gives one.
void read_behind_pattern(ShellReader& reader, const Invocation& call, const Arguments& arguments,
                         bool recursive) {
  std::span<const Argument> operands = arguments.operands;
  for (const GivenOption& option : arguments.options) {
    const bool file = option.spelling == "-f" || option.spelling.starts_with("--f");
    if (option.option != nullptr && option.option->meaning == '~' && file && option.value) {
      reader.add_path("fs.read", *option.value);
    }
  }
  const bool given = arguments.has('~');
  if (!given && !operands.empty() && !operands[0].word.many) operands = operands.subspan(1);
  each_path(reader, "fs.read", operands, recursive);
  if (operands.empty() && recursive && !call.input.redirected) reader.add_here("fs.read", true);
  if (operands.empty() && arguments.has('R')) reader.add_here("fs.read", true);
}

void read_here(ShellReader& reader, const Arguments& arguments, bool recursive) {
  const std::span<const Argument> operands = arguments.operands;
  each_path(reader, "fs.read", operands, recursive);
  if (operands.empty()) reader.add_here("fs.read", recursive);
  // `tree -R -L 2` writes a page into each folder.
  if (!arguments.has('W') || arguments.value("-L") == nullptr) return;
  each_path(reader, "fs.write", operands, true);
  if (operands.empty()) reader.add_here("fs.write", true);
}

// `file -C -m FILE` writes FILE.mgc into the current folder.
void compiled_magic(ShellReader& reader, const Arguments& arguments) {
  const Argument* files = arguments.value("-m");
  const std::string* text = files == nullptr ? nullptr : files->text();
  if (files != nullptr && (text == nullptr || text->contains(':')))
    return reader.add_path("fs.write", {});
  const std::string name(text == nullptr ? "magic" : last_segment(*text));
  reader.add_path("fs.write", literal(name + ".mgc"));
}

void operand_effects(ShellReader& reader, const Invocation& call, const Program& row,
                     const Arguments& arguments, bool recursive) {
  std::span<const Argument> operands = arguments.operands;
  switch (row.operands) {
    case Operands::Read:
      each_path(reader, "fs.read", operands, recursive);
      if (arguments.has('W')) compiled_magic(reader, arguments);
      break;
    case Operands::ReadHere:
      read_here(reader, arguments, recursive);
      break;
    case Operands::PatternRead:
      read_behind_pattern(reader, call, arguments, recursive);
      break;
    case Operands::Write:
      each_path(reader, "fs.write", operands, recursive);
      break;
    case Operands::ModeWrite:
      if (!arguments.has('~') && !operands.empty() && !operands[0].word.many)
        operands = operands.subspan(1);
      each_path(reader, "fs.write", operands, recursive);
      break;
    case Operands::Delete:
      for (const Argument& path : operands) reader.add_path("fs.delete", path, recursive);
      break;
    case Operands::Replace:
      compressed_files(reader, std::string(last_segment(*call.words[0].text())), arguments,
                       recursive);
      break;
    case Operands::Copy:
      if (arguments.has('W')) {
        each_path(reader, "fs.write", operands, false);
        break;
      }
      [[fallthrough]];
    case Operands::Move:
    case Operands::Link:
      to_target(reader, row, arguments);
      break;
    case Operands::ReadWrite:
      if (!operands.empty()) each_path(reader, "fs.read", operands.first(1), false);
      if (operands.size() > 1) each_path(reader, "fs.write", operands.subspan(1), false);
      if (!operands.empty() && operands[0].word.many) reader.add_path("fs.write", {});
      break;
    case Operands::WriteRead:
      // `zip -@` reads the names of files from its input.
      if (arguments.has("-@")) reader.add_path("fs.read", {});
      if (!operands.empty()) {
        each_path(reader, "fs.write", operands.first(1), false);
        each_path(reader, "fs.read", operands.subspan(1), recursive);
      }
      break;
    case Operands::Hosts:
      for (const Argument& host : operands) reader.add_host(host);
      break;
    default:
      break;
  }
}

void generic_effects(ShellReader& reader, const Invocation& call, const Program& row) {
  const std::vector<Option>& options = options_of(row.options);
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = options, .single_dash = row.single_dash});
  const bool recursive = arguments.has('R') || row.always_recursive;
  if (arguments.has('N')) return reader.add_plain("none");
  const std::size_t before = reader.effect_count();
  option_effects(reader, call, arguments);
  operand_effects(reader, call, row, arguments, recursive);
  // An unknown word may be `-r`.
  if (arguments.unclear && row.operands == Operands::Delete && !recursive) {
    reader.add_path("fs.delete", {}, true);
  }
  if (arguments.unclear && has_dangerous_option(options))
    reader.opaque(OpaqueReason::Expansion, call);
  if (reader.effect_count() == before) reader.add_plain("none");
}

}  // namespace

bool has_dangerous_option(const std::vector<Option>& options) {
  return std::ranges::any_of(options, [](const Option& option) {
    return std::string_view("!C>").contains(option.meaning);
  });
}

void option_effects(ShellReader& reader, const Invocation& call, const Arguments& arguments) {
  for (const GivenOption& given : arguments.options) {
    if (given.option == nullptr) continue;
    const char meaning = given.option->meaning;
    if (meaning == '!') reader.opaque(OpaqueReason::Interpreter, call);
    if (meaning == 'C') reader.opaque(OpaqueReason::Configuration, call);
    // The files in a list of files are read too.
    const bool list = given.option->spellings.back().starts_with("--files0-from");
    if (list) reader.add_path("fs.read", {});
    if (!given.value || is_dash(*given.value)) continue;
    if (meaning == '<') reader.add_path("fs.read", *given.value);
    if (meaning == '>') reader.add_path("fs.write", *given.value);
    if (meaning == '@') reader.add_host(*given.value);
  }
}

Invocation rest_of(const Invocation& call, std::size_t from) {
  Invocation out{.input = call.input,
                 .start = call.start,
                 .end = call.end,
                 .level = call.level + 1,
                 .has_environment = call.has_environment};
  const auto start = static_cast<std::ptrdiff_t>(std::min(from, call.words.size()));
  out.words.assign(call.words.begin() + start, call.words.end());
  return out;
}

void program_effects(ShellReader& reader, const Invocation& call, const std::string& given_name) {
  const Program& row = *find_program(given_name);
  const std::string name(program_alias(given_name));
  switch (row.operands) {
    case Operands::None:
      if (!row.options.empty()) {
        const std::vector<Option>& options = options_of(row.options);
        option_effects(reader, call, read_arguments(call.words, 1, {.options = options}));
      }
      reader.add_plain("none");
      return;
    case Operands::Packages:
      package_effects(reader, call, row, name);
      return;
    case Operands::Shell:
      shell_effects(reader, call, row);
      return;
    case Operands::Interpreter:
      interpreter_effects(reader, call, row);
      return;
    case Operands::Wrapper:
      wrapped_effects(reader, call, row, name);
      return;
    case Operands::Special:
      if (name == "git") return git_effects(reader, call);
      if (builtin_effects(reader, call, name) || wrapper_effects(reader, call, name) ||
          file_effects(reader, call, name) || network_effects(reader, call, name)) {
        return;
      }
      reader.add_plain("process.exec");
      return;
    default:
      generic_effects(reader, call, row);
  }
}

namespace {

// Options of package managers that start a program or use another registry.
void package_option_effects(ShellReader& reader, const Invocation& call, const Arguments& arguments,
                            const std::string& name) {
  const bool runs = (name == "pip" && arguments.has("--python")) ||
                    (name == "cargo" && arguments.has("--config")) ||
                    (name != "uv" && name != "pip" && arguments.has("--browser"));
  if (runs) reader.opaque(OpaqueReason::Configuration, call);
  if (const Argument* registry = arguments.value("--registry")) reader.add_host(*registry);
  if (name != "go") return;
  // `go` reads `-name` and `--name` alike.
  constexpr std::string_view kRun[] = {"toolexec", "exec", "vettool", "overlay", "modfile"};
  for (const Argument& word : call.words) {
    for (const std::string& text : word.word.values) {
      const std::string_view bare =
          std::string_view(text).substr(std::min(text.size(), text.find_first_not_of('-')));
      const bool runs_it = std::ranges::any_of(kRun, [&](std::string_view option) {
        return bare == option || bare.starts_with(std::string(option) + "=");
      });
      if (text.starts_with('-') && runs_it) reader.opaque(OpaqueReason::Interpreter, call);
    }
  }
}

}  // namespace

void package_effects(ShellReader& reader, const Invocation& call, const Program& row,
                     const std::string& name) {
  if (row.options.empty()) return reader.add_plain("package.install");  // `npx` and its group
  const Arguments arguments = read_arguments(call.words, 1, {.options = options_of(row.options)});
  const bool no_words = call.words.size() == 1;
  if (arguments.operands.empty()) {
    const bool asks = arguments.has("--version") || arguments.has("--help") ||
                      arguments.has("-V") || arguments.has("-h");
    if (asks) return reader.add_plain("none");
    reader.add_plain(name == "yarn" && !arguments.unclear ? "package.install"
                     : no_words                           ? "none"
                                                          : "process.exec");
    return;
  }
  const std::string* word = arguments.operands[0].text();
  if (word == nullptr) {
    reader.add_plain("process.exec");
    return reader.opaque(OpaqueReason::Expansion, call);
  }
  package_option_effects(reader, call, arguments, name);
  const Subcommand* found = find_subcommand(name, *word);
  std::string_view effect_class = found == nullptr ? "process.exec" : found->effect_class;
  const std::string* second =
      arguments.operands.size() > 1 ? arguments.operands[1].text() : nullptr;
  if (name == "uv" && second != nullptr) {
    const bool lists = *second == "list" || *second == "show" || *second == "freeze" ||
                       *second == "check" || *second == "tree" || *second == "dir" ||
                       *second == "find";
    if (lists && (*word == "pip" || *word == "tool" || *word == "python")) effect_class = "none";
    if (*word == "tool" && *second == "run") effect_class = "package.install";
  }
  if (name == "go" && second != nullptr && (*word == "mod" || *word == "work")) {
    const bool lists = *second == "graph" || *second == "why" || *second == "verify";
    const bool edits =
        *second == "init" || *second == "edit" || *second == "vendor" || *second == "use";
    if (lists) effect_class = "none";
    if (edits) effect_class = "process.exec";
  }
  // An unknown option may give a harmless subcommand an effect.
  if (effect_class == "none" && arguments.has_unknown()) effect_class = "process.exec";
  reader.add_plain(effect_class);
}

void shell_effects(ShellReader& reader, const Invocation& call, const Program& row) {
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = options_of(row.options), .stop_at_operand = true});
  option_effects(reader, call, arguments);
  const bool has_text = arguments.has("-c");
  const bool from_input = arguments.has("-s");
  if (arguments.has("--version") || arguments.has("--help")) return reader.add_plain("none");
  std::size_t next = arguments.next;
  // `sh +x` turns an option off.
  while (next < call.words.size() && call.words[next].text() != nullptr &&
         call.words[next].text()->starts_with('+'))
    ++next;
  const bool unclear = next < call.words.size() && !call.words[next].word.known();
  if (has_text) {
    if (next >= call.words.size()) return reader.add_plain("none");
    if (unclear && call.words[next].word.many) {
      if (call.words[next].remote) reader.remote_code();
      return reader.opaque(OpaqueReason::Code, call);
    }
    return reader.run_text(call, call.words[next], OpaqueReason::Code, true);
  }
  if (next < call.words.size() && !from_input) {
    const std::string* file = call.words[next].text();
    if (file == nullptr || (*file != "/dev/stdin" && *file != "-" && *file != "/dev/fd/0" &&
                            *file != "/proc/self/fd/0")) {
      if (reader.was_downloaded(call.words[next])) reader.remote_code();
      reader.add_plain("process.exec");
      if (unclear && !call.words[next].process && call.words[next].below.empty()) {
        reader.opaque(OpaqueReason::Expansion, call);
      }
      return;
    }
  }
  if (call.input.document && call.input.text) {
    return reader.run_text(call, {.word = *call.input.text, .remote = call.input.remote},
                           OpaqueReason::Heredoc, true);
  }
  if (call.input.remote) reader.remote_code();
  reader.opaque(OpaqueReason::Stdin, call);
}

void interpreter_effects(ShellReader& reader, const Invocation& call, const Program& row) {
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = options_of(row.options), .stop_at_operand = true});
  const bool runs = arguments.has('c') || arguments.has('!') || arguments.has('C');
  if (arguments.has('N') && !runs && arguments.next >= call.words.size())
    return reader.add_plain("none");
  option_effects(reader, call, arguments);
  // `python -m module`: the following words belong to the module.
  if (arguments.has('c')) {
    const Argument* code = arguments.value('c');
    if (code != nullptr && code->remote) reader.remote_code();
    return reader.opaque(OpaqueReason::Code, call);
  }
  if (arguments.value("-m") != nullptr || arguments.value("-f") != nullptr)
    return reader.add_plain("process.exec");
  if (arguments.next < call.words.size()) {
    const Argument& file = call.words[arguments.next];
    const std::string* text = file.text();
    const bool input =
        text != nullptr && (*text == "-" || *text == "/dev/stdin" || *text == "/dev/fd/0");
    if (!input) {
      if (reader.was_downloaded(file)) reader.remote_code();
      reader.add_plain("process.exec");
      if (text == nullptr && !file.process && !file.word.known())
        reader.opaque(OpaqueReason::Expansion, call);
      return;
    }
  }
  if (call.input.remote) reader.remote_code();
  reader.opaque(call.input.document ? OpaqueReason::Heredoc : OpaqueReason::Stdin, call);
}

}  // namespace sallyport::effects
