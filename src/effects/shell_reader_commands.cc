// Reads simple commands: words, assignments, redirections and the program that they start.
#include <algorithm>
#include <utility>

#include "effects/path_text.h"
#include "effects/program_effects.h"
#include "effects/program_table.h"
#include "effects/shell_parser.h"
#include "effects/shell_reader.h"

namespace sallyport::effects {

namespace {

constexpr std::size_t kMostWords = 8192;      // of all commands that the shell starts
constexpr std::size_t kMostRunWords = 32768;  // the same, each wrapper once more
constexpr std::size_t kMostTexts = 16;        // values of one text that a shell runs

constexpr auto kSystemFolders = std::to_array<std::string_view>(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"});

bool is_system_program(const std::string& path) {
  return std::ranges::find(kSystemFolders, parent_folder(path)) != kSystemFolders.end();
}

// A program as its place says (RU-51).
struct NamedProgram {
  std::optional<std::string> name{};  // in the table; none for a program at another place
  bool elsewhere = false;             // it may also be a program at another place
};

// `folders` are the folders in which the shell may be.
NamedProgram named_program(const std::string& program, const std::vector<std::string>& folders) {
  if (!program.contains('/')) return {.name = program};
  if (program.starts_with('/')) {
    const std::string path = cleaned_path(program);
    if (!is_system_program(path)) return {};
    return {.name = std::string(last_segment(path))};
  }
  NamedProgram out;
  for (const std::string& folder : folders) {
    const std::string path = *absolute_path(program, folder);
    if (is_system_program(path)) {
      out.name = std::string(last_segment(path));
    } else {
      out.elsewhere = true;
    }
  }
  return out;
}

// True for shells in which `.*` does not match `.` and `..`, as it does in dash.
bool is_bash(const Invocation& call) {
  const std::string* program = call.words[0].text();
  const std::string_view name = program == nullptr ? std::string_view() : last_segment(*program);
  return name == "bash" || name == "rbash" || name == "zsh";
}

}  // namespace

bool ShellReader::read_redirections(const CommandSyntax& command, StandardInput& input) {
  const SharedCommand outer = std::exchange(command_, {});
  bool remote_target = false;
  for (const Redirection& redirection : command.redirections) {
    if (redirection.kind == Redirection::Kind::HereDocument) {
      const bool remote = visit(redirection.body->parts);
      if (redirection.standard_input) {
        Word text = expansion_.word(redirection.body->parts, state_, false);
        input = {.redirected = true, .remote = remote, .document = true, .text = std::move(text)};
      }
      continue;
    }
    const bool remote = visit(redirection.target.parts);
    if (redirection.kind == Redirection::Kind::HereString) {
      if (redirection.standard_input) {
        Word text = expansion_.word(redirection.target.parts, state_, true);
        input = {.redirected = true, .remote = remote, .document = true, .text = std::move(text)};
      }
      continue;
    }
    std::vector<Word> fields = expansion_.fields(redirection.target, state_, changes_);
    Argument target{.word = fields.size() == 1 ? std::move(fields[0]) : Word{}};
    target.word.many = false;
    const std::string* text = target.text();
    const bool reads = redirection.kind == Redirection::Kind::Read ||
                       (redirection.kind == Redirection::Kind::Duplicate && redirection.reads);
    if (redirection.kind == Redirection::Kind::Duplicate) {
      const bool number =
          text != nullptr && !text->empty() &&
          std::ranges::all_of(*text, [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
      if (number || redirection.reads) continue;
    }
    if (reads) {
      input = {.redirected = true, .remote = remote || was_downloaded(target)};
    }
    if (redirection.target.parts.size() == 1 &&
        redirection.target.parts[0].kind == Part::Kind::Process) {
      continue;
    }
    bool network = false;
    for (const std::string& value : target.word.values) {
      const bool udp = value.starts_with("/dev/udp/");
      if (!udp && !value.starts_with("/dev/tcp/")) continue;
      const std::string rest = value.substr(9);
      add_host({.word = {.values = {rest.substr(0, rest.find('/'))}}});
      network = true;
      if (reads) input.remote = true;
    }
    if (network) continue;
    add_path(reads ? "fs.read" : "fs.write", target);
    remote_target = remote_target || !reads;
  }
  command_ = outer;
  return remote_target;
}

bool ShellReader::is_number(const WordSyntax& word) {
  const Word value = expansion_.word(word.parts, state_);
  return value.known() && std::ranges::all_of(value.values, is_integer);
}

void ShellReader::read_assignments(const CommandSyntax& command, Place place) {
  const bool alone = command.words.empty();
  for (const Assignment& assignment : command.assignments) {
    for (const WordSyntax& value : assignment.values) visit(value.parts);
    if (!alone) continue;
    if (assignment.element && !is_safe_arithmetic(assignment.subscript)) {
      fail(OpaqueReason::Code, command.start, command.end);
    }
    const bool plain = !assignment.append && !assignment.element && !assignment.array;
    if (is_arithmetic_variable(assignment.name) && !(plain && is_number(assignment.values[0]))) {
      fail(OpaqueReason::Code, command.start, command.end);
    }
    Word value;
    if (plain && place == Place::Top) value = expansion_.word(assignment.values[0].parts, state_);
    if (plain && value.values.empty() && assignment.values[0].parts.size() == 1 &&
        assignment.values[0].parts[0].kind == Part::Kind::Arithmetic) {
      state_.set(assignment.name, {});  // a number
    } else if (plain && place == Place::Inside) {
      // Its value is not kept, but a number is not doubtful.
      const Word inside = expansion_.word(assignment.values[0].parts, state_);
      const bool numbers = inside.known() && std::ranges::all_of(inside.values, is_integer);
      if (numbers) {
        state_.set(assignment.name, {});
      } else {
        assign(assignment.name, {});
      }
    } else {
      assign(assignment.name, std::move(value.values));
    }
    if (steers_programs(assignment.name)) {
      state_.steered = true;
      fail(OpaqueReason::Environment, command.start, command.end);
    }
  }
}

void ShellReader::read_simple(const CommandSyntax& command, Place place) {
  if (texts_ == 0) {
    span_start_ = command.start;
    span_end_ = std::max(command.end, command.start);
  }
  Invocation call{.start = command.start, .end = command.end, .level = level_};
  std::vector<Word> words;
  for (const WordSyntax& word : command.words) {
    const bool remote = visit(word.parts);
    if (words_made_ > kMostWords) continue;
    const bool process = word.parts.size() == 1 && word.parts[0].kind == Part::Kind::Process;
    for (Word& field : expansion_.fields(word, state_, changes_)) {
      words.push_back(field);
      call.words.push_back({.word = std::move(field), .remote = remote, .process = process});
      ++words_made_;
    }
  }
  if (words_made_ > kMostWords) fail(OpaqueReason::Limit, command.start, command.end);
  read_assignments(command, place);
  const StandardInput outer = input_;
  const std::size_t effects = out_.effects.size();
  read_redirections(command, input_);
  const std::size_t behind = out_.effects.size();
  if (!command.complete) {
    input_ = outer;
    return;
  }
  if (call.words.empty()) {
    input_ = outer;
    return;
  }
  if (texts_ == 0) {
    span_start_ = command.start;
    span_end_ = command.end;
  }
  started_.push_back(std::move(words));
  call.input = input_;
  call.has_environment = std::ranges::any_of(command.assignments, [](const Assignment& assignment) {
    return !is_harmless_variable(assignment.name);
  });
  const std::size_t requests = requests_;
  const bool remote_input = input_.remote;
  run(std::move(call));
  if (requests_ > requests || remote_input) mark_downloads(effects, behind);
  input_ = outer;
}

void ShellReader::run(Invocation call) {
  const SharedCommand outer = command_;
  const auto leave = [&] { command_ = outer; };
  if (call.words.empty()) return;
  words_run_ += call.words.size();
  if (call.level > kMostLevels || ++work_ > kMostWork || words_run_ > kMostRunWords) {
    opaque(OpaqueReason::Limit, call);
    return;
  }
  const Word& first = call.words[0].word;
  if (first.known() && first.values.size() > 1 && first.values.size() <= 8) {
    const std::vector<std::string> values = first.values;
    for (const std::string& value : values) {
      Invocation single = call;
      single.words[0].word = {.values = {value}};
      run(std::move(single));
    }
    return;
  }
  Command command;
  for (const Argument& argument : call.words) command.words.push_back(argument.word);
  if (state_.folders.size() == 1) command.folder = state_.folders[0];
  const std::string* program = call.words[0].text();
  if (program == nullptr) {
    command_ = std::move(command);
    opaque(OpaqueReason::Expansion, call);
    return leave();
  }
  const bool ascii = std::ranges::all_of(*program, [](char c) { return c >= 0x20 && c < 0x7f; });
  const auto [name, elsewhere] = named_program(*program, state_.folders);
  const Program* row = name ? find_program(*name) : nullptr;
  command.has_profile = row != nullptr;
  std::optional<Command> written;
  if (elsewhere) written = command;
  if (name) command.words[0].values = {*name};
  command_ = std::move(command);
  const bool downloaded = program->contains('/') && was_downloaded(call.words[0]);
  if (downloaded) remote_code();
  if (row == nullptr || downloaded) {
    std::optional<Invocation> tool;
    if (name == "cmake" && !downloaded) tool = cmake_tool(call);
    if (tool) {
      run(std::move(*tool));
    } else {
      add_plain("process.exec");
    }
  } else {
    const std::size_t effects = out_.effects.size();
    const std::size_t requests = requests_;
    program_effects(*this, call, *name);
    if (elsewhere) {
      command_ = std::move(*written);
      add_plain("process.exec");
    }
    if (requests_ > requests) mark_downloads(effects, out_.effects.size());
  }
  if (!ascii) opaque(OpaqueReason::Encoding, call);
  if (call.has_environment || state_.steered) opaque(OpaqueReason::Environment, call);
  leave();
}

void ShellReader::run_in_root(Invocation call, bool ours) {
  const ShellState before = state_;
  const bool outer = std::exchange(other_root_, other_root_ || !ours);
  // It starts at the root, unless an option keeps the folder.
  state_.folders.clear();
  run(std::move(call));
  state_ = before;
  other_root_ = outer;
}

void ShellReader::run_text(const Invocation& call, const Argument& text, OpaqueReason otherwise,
                           bool own_shell) {
  if (text.remote) remote_code();
  if (!text.word.known() || text.word.values.size() > kMostTexts) {
    opaque(otherwise, call);
    return;
  }
  if (level_ >= kMostLevels) {
    opaque(OpaqueReason::Limit, call);
    return;
  }
  const ShellState before = state_;
  const StandardInput outer = input_;
  if (own_shell) state_.forget_variables();
  const bool dots = expansion_.dots_match();
  if (own_shell) expansion_.set_dots_match(!is_bash(call));
  ++level_;
  ++texts_;
  for (const std::string& line : text.word.values) {
    ShellParser parser(line, level_, commands_);
    const ShellSyntax syntax = parser.read();
    read_list(syntax.list, Place::Inside);
    if (syntax.failure) fail(syntax.failure->reason, 0, 0);
  }
  --texts_;
  --level_;
  input_ = outer;
  expansion_.set_dots_match(dots);
  if (own_shell) state_ = before;
}

}  // namespace sallyport::effects
