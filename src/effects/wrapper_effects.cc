// Programs that start another one (RU-50).
#include <algorithm>
#include <utility>

#include "effects/program_effects.h"
#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

// Options of wrappers, in the notation of the table.
constexpr std::string_view kEnv =
    "-u,--unset= -C,--chdir= -S,--split-string=! -i,--ignore-environment -0,--null -v "
    "--block-signal=? --default-signal=? --ignore-signal=?";
constexpr std::string_view kSudo =
    "-u,--user= -g,--group= -h,--host= -p,--prompt= -C,--close-from= -D,--chdir= -R,--chroot= "
    "-r,--role= -t,--type= -T,--command-timeout= -U,--other-user= "
    "-E,--preserve-env=? -H -i,--login -s,--shell -n -k -K -l,--list -v,--validate -A -b -e,--edit "
    "-S -P -V,--version";
constexpr std::string_view kDoas = "-u= -C= -a= -n -s -L";
constexpr std::string_view kPkexec = "-u,--user= --disable-internal-agent --keep-cwd --version";
constexpr std::string_view kSu =
    "-c,--command=c -s,--shell= -g,--group= -G,--supp-group= -w,--whitelist-environment= "
    "-l,--login -m,-p,--preserve-environment -P,--pty -f --session-command=c";
constexpr std::string_view kXargs =
    "-I=r -J=r -a,--arg-file=< -n,--max-args= -P,--max-procs= -L,--max-lines= -d,--delimiter= -E= "
    "-s,--max-chars= -R= -S= -i,--replace=? -l=? -e,--eof=? "
    "-0,--null -r,--no-run-if-empty -t,--verbose -p,--interactive -x,--exit -o,--open-tty "
    "--process-slot-var= --show-limits";
constexpr std::string_view kParallel =
    "-j,--jobs= -I= -n,--max-args= -N= -L= -d,--delimiter= -C,--colsep= -a,--arg-file=< "
    "-S,--sshlogin=! --results=> --joblog=> --tmpdir= --halt= --delay= "
    "--timeout= --load= --retries= --env= -k -u -v -t --bar --eta --dry-run --will-cite --ungroup "
    "--line-buffer -X -m -q -0 --pipe:! --shebang:!";
constexpr std::string_view kWatch =
    "-n,--interval= -d,--differences=? -t,--no-title -b -e -g -c -x,--exec -p -w -q,--equexit= "
    "--shotsdir=>";
constexpr std::string_view kFlock =
    "-w,--wait,--timeout= -E,--conflict-exit-code= -c,--command=c -s,--shared -x,-e,--exclusive "
    "-n,--nonblock -u,--unlock -o,--close -F,--no-fork --verbose";
constexpr std::string_view kExec = "-a= -c -l";
constexpr std::string_view kCommand = "-p -v:N -V:N";

Arguments wrapper_arguments(const Invocation& call, const std::vector<Option>& options) {
  return read_arguments(call.words, 1, {.options = options, .stop_at_operand = true});
}

void run_rest(ShellReader& reader, const Invocation& call, std::size_t next) {
  if (next < call.words.size()) reader.run(rest_of(call, next));
}

// `NAME=value` words before a command. Returns where the command starts.
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
  static const std::vector<Option> kOptions = read_option_groups(kEnv);
  Invocation call = given;
  const Arguments arguments = wrapper_arguments(call, kOptions);
  option_effects(reader, call, arguments);
  if (arguments.has('!')) return;
  const std::size_t next = skip_assignments(call, arguments.next);
  if (next >= call.words.size()) return reader.add_plain("none");
  const ShellState before = reader.state();
  if (const Argument* folder = arguments.value("-C")) reader.set_folder(*folder);
  run_rest(reader, call, next);
  reader.state() = before;
}

void privileged(ShellReader& reader, const Invocation& given, const std::string& name) {
  static const std::vector<Option> kSudoOptions = read_option_groups(kSudo);
  static const std::vector<Option> kDoasOptions = read_option_groups(kDoas);
  static const std::vector<Option> kPkexecOptions = read_option_groups(kPkexec);
  reader.add_plain("privilege");
  Invocation call = given;
  const Arguments arguments = wrapper_arguments(call, name == "sudo"   ? kSudoOptions
                                                      : name == "doas" ? kDoasOptions
                                                                       : kPkexecOptions);
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
  static const std::vector<Option> kOptions = read_option_groups(kSu);
  reader.add_plain("privilege");
  const Arguments arguments = read_arguments(call.words, 1, {.options = kOptions});
  const Argument* text = arguments.value('c');
  if (text == nullptr) {
    if (call.input.remote) reader.remote_code();
    return reader.opaque(OpaqueReason::Stdin, call);
  }
  const ShellState before = reader.state();
  if (arguments.has("--login") || std::ranges::any_of(arguments.operands, [](const Argument& one) {
        return one.text() != nullptr && *one.text() == "-";
      })) {
    reader.state().folders.clear();
  }
  reader.run_text(call, *text, OpaqueReason::Code, true);
  reader.state() = before;
}

void xargs(ShellReader& reader, const Invocation& given) {
  static const std::vector<Option> kOptions = read_option_groups(kXargs);
  const Arguments arguments = wrapper_arguments(given, kOptions);
  option_effects(reader, given, arguments);
  Invocation call = rest_of(given, arguments.next);
  call.input = {};  // `xargs` gives its command nothing to read
  if (call.words.empty()) return reader.add_plain("none");
  const Argument* mark = arguments.value('r');
  const bool replaces = mark != nullptr || arguments.has("--replace");
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

// It gives its words to a shell, once for each argument.
void parallel(ShellReader& reader, const Invocation& given) {
  static const std::vector<Option> kOptions = read_option_groups(kParallel);
  const Arguments arguments = wrapper_arguments(given, kOptions);
  option_effects(reader, given, arguments);
  Invocation call = rest_of(given, arguments.next);
  const auto end = std::ranges::find_if(call.words, [](const Argument& word) {
    return word.text() != nullptr && word.text()->starts_with(":::");
  });
  call.words.erase(end, call.words.end());
  if (call.words.empty()) {
    if (given.input.remote) reader.remote_code();
    return reader.opaque(OpaqueReason::Stdin, given);
  }
  for (Argument& word : call.words) {
    const bool plain =
        word.word.known() && std::ranges::all_of(word.word.values, [](const std::string& value) {
          return value.find_first_of(" \t\n;&|<>()$`\\\"'*?[#~%") == std::string::npos;
        });
    if (!plain) return reader.opaque(OpaqueReason::Code, given);
    if (word.word.values[0].contains('{')) word = {};
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
  static const std::vector<Option> kOptions = read_option_groups(kWatch);
  const Arguments arguments = wrapper_arguments(call, kOptions);
  option_effects(reader, call, arguments);
  if (arguments.next >= call.words.size()) return reader.add_plain("none");
  if (arguments.has("--exec")) return run_rest(reader, call, arguments.next);
  reader.run_text(call, joined_words(call, arguments.next), OpaqueReason::Code, true);
}

void flock(ShellReader& reader, const Invocation& call) {
  static const std::vector<Option> kOptions = read_option_groups(kFlock);
  const Arguments arguments = wrapper_arguments(call, kOptions);
  if (arguments.next >= call.words.size()) return reader.add_plain("none");
  const std::string* file = call.words[arguments.next].text();
  const bool number =
      file != nullptr && std::ranges::all_of(*file, [](char c) { return c >= '0' && c <= '9'; });
  if (number) return reader.add_plain("none");
  reader.add_path("fs.write", call.words[arguments.next]);
  const std::size_t next = arguments.next + 1;
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

}  // namespace

bool wrapper_effects(ShellReader& reader, const Invocation& call, const std::string& name) {
  static const std::vector<Option> kExecOptions = read_option_groups(kExec);
  static const std::vector<Option> kCommandOptions = read_option_groups(kCommand);
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
  } else if (name == "exec" || name == "command" || name == "builtin") {
    const Arguments arguments =
        wrapper_arguments(call, name == "exec" ? kExecOptions : kCommandOptions);
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

}  // namespace sallyport::effects
