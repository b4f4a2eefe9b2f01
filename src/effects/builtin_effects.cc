// The effects of shell builtins on the shell itself.
#include <algorithm>
#include <array>

#include "effects/program_effects.h"
#include "effects/shell_parser.h"

namespace sallyport::effects {

namespace {

const std::string* text_at(const Invocation& call, std::size_t index) {
  return index < call.words.size() ? call.words[index].text() : nullptr;
}

void steer(ShellReader& reader, const Invocation& call) {
  reader.state().steered = true;
  reader.opaque(OpaqueReason::Environment, call);
}

// Handles a `name` or `name=value` that a builtin sets. A subscript is arithmetic, which can run
// commands.
void set_name(ShellReader& reader, const Invocation& call, const Argument& argument) {
  if (!argument.word.known()) {
    reader.assign_unknown_names();
    return steer(reader, call);
  }
  for (const std::string& value : argument.word.values) {
    std::string name = value.substr(0, value.find('='));
    if (name.ends_with('+')) name.pop_back();
    if (!is_name(name)) {
      reader.opaque(OpaqueReason::Builtin, call);
      continue;
    }
    reader.assign(name, {});
    if (steers_programs(name)) steer(reader, call);
    // The value is unknown here.
    if (is_arithmetic_variable(name)) reader.opaque(OpaqueReason::Code, call);
  }
}

void set_names(ShellReader& reader, const Invocation& call, std::string_view harmless_flags) {
  reader.add_plain("none");
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const std::string* text = text_at(call, i);
    if (text != nullptr && text->starts_with('-')) {
      const bool harmless =
          text->find_first_not_of(harmless_flags, 1) == std::string::npos || *text == "--";
      if (!harmless) reader.opaque(OpaqueReason::Builtin, call);
      continue;
    }
    set_name(reader, call, call.words[i]);
  }
}

void change_folder(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  std::vector<Argument> operands;
  bool physical = false;
  bool options = true;
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const std::string* text = text_at(call, i);
    if (options && text != nullptr && text->size() > 1 && text->starts_with('-')) {
      physical = physical || text->contains('P');
      options = *text != "--";
      continue;
    }
    operands.push_back(call.words[i]);
  }
  if (operands.empty()) operands.push_back(literal(reader.setting().home));
  const std::string* text = operands[0].text();
  const bool parent = text != nullptr && text->contains("..");
  if (operands.size() > 1 || !operands[0].word.known() ||
      (text != nullptr && (text->empty() || *text == "-")) || (physical && parent)) {
    reader.state().folders.clear();
  } else {
    reader.set_folder(operands[0]);
  }
}

void set_options(ShellReader& reader, const Invocation& call) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"pipefail", "errexit", "nounset", "xtrace", "verbose", "errtrace"});
  reader.add_plain("none");
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const std::string* text = text_at(call, i);
    if (text != nullptr && (*text == "--" || *text == "-")) {
      // The rest are positional parameters: unknown and possibly not numbers.
      for (const std::string_view name : {"1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"}) {
        reader.assign(std::string(name), {});
      }
      return;
    }
    const bool option =
        text != nullptr && text->size() > 1 && (text->starts_with('-') || text->starts_with('+'));
    if (!option || text->find_first_not_of("euxvEo", 1) != std::string::npos) {
      return reader.opaque(OpaqueReason::Builtin, call);
    }
    if (!text->contains('o')) continue;
    ++i;
    const std::string* name = text_at(call, i);
    if (name == nullptr ? i < call.words.size()
                        : std::ranges::find(kNames, *name) == kNames.end()) {
      return reader.opaque(OpaqueReason::Builtin, call);
    }
  }
}

void read_names(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  reader.assign("REPLY", {});
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const std::string* text = text_at(call, i);
    if (text == nullptr || !text->starts_with('-')) {
      set_name(reader, call, call.words[i]);
      continue;
    }
    // The value of an option follows its letter or is the next word.
    const std::size_t letter = text->find_first_of("pnNtudai", 1);
    if (letter == std::string::npos) continue;
    const bool array = (*text)[letter] == 'a';
    if (letter + 1 < text->size()) {
      if (array) set_name(reader, call, literal(text->substr(letter + 1)));
      continue;
    }
    ++i;
    if (array && i < call.words.size()) set_name(reader, call, call.words[i]);
    if (i < call.words.size() && call.words[i].word.many) set_name(reader, call, {});
  }
}

void evaluate_arithmetic(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const std::string* text = text_at(call, i);
    if (text == nullptr || !reader.is_safe_arithmetic(*text)) {
      reader.assign_unknown_names();
      return reader.opaque(OpaqueReason::Code, call);
    }
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = name_end(*text, at);
      if (end > at) reader.state().set(text->substr(at, end - at), {});
      at = std::max(end, at + 1);
    }
  }
}

void evaluate(ShellReader& reader, const Invocation& call) {
  Argument text{.word = {.values = {""}}};
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const Argument& word = call.words[i];
    text.remote = text.remote || word.remote;
    const std::string* value = word.text();
    if (call.words.size() == 2 && word.word.known()) {
      text.word = word.word;
    } else if (value == nullptr) {
      text.word.values.clear();
      break;
    } else {
      if (i > 1) text.word.values[0] += ' ';
      text.word.values[0] += *value;
    }
  }
  reader.run_text(call, text, OpaqueReason::Eval, false);
  reader.assign_unknown_names();
}

// A trap runs its command at another time, so the current state does not apply to it.
void trap(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  std::size_t first = 1;
  const std::string* option = text_at(call, first);
  if (option != nullptr && *option == "--") ++first;
  if (option != nullptr && (*option == "-l" || *option == "-p")) return;
  if (call.words.size() <= first + 1 &&
      (call.words.size() <= first || call.words[first].word.known()))
    return;
  const std::string* action = text_at(call, first);
  if (action != nullptr && (action->empty() || *action == "-")) return;
  const ShellState before = reader.state();
  reader.state().folders.clear();
  reader.state().forget_variables();
  const ShellState then = reader.state();
  reader.run_text(call, call.words[first], OpaqueReason::Eval, false);
  if (!(reader.state() == then)) reader.opaque(OpaqueReason::Eval, call);
  reader.state() = before;
  reader.assign_unknown_names();
}

void source(ShellReader& reader, const Invocation& call) {
  reader.assign_unknown_names();
  if (call.words.size() < 2) return reader.add_plain("none");
  const std::string* file = text_at(call, 1);
  if (file != nullptr && *file == "/dev/stdin" && call.input.document && call.input.text) {
    return reader.run_text(call, {.word = *call.input.text, .remote = call.input.remote},
                           OpaqueReason::Heredoc, false);
  }
  const bool input = file != nullptr && *file == "/dev/stdin";
  if (reader.was_downloaded(call.words[1]) || (input && call.input.remote)) reader.remote_code();
  reader.add_plain("process.exec");
  if (input) reader.opaque(OpaqueReason::Stdin, call);
}

void test(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  for (std::size_t i = 1; i + 1 < call.words.size(); ++i) {
    const std::string* text = text_at(call, i);
    if (text == nullptr || (*text != "-v" && *text != "-R")) continue;
    const std::string* operand = text_at(call, i + 1);
    if (operand == nullptr || operand->contains('[')) reader.opaque(OpaqueReason::Code, call);
  }
}

void print(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  const std::string* first = text_at(call, 1);
  if (first == nullptr && call.words.size() > 1 && call.words[1].word.many)
    reader.assign_unknown_names();
  if (first == nullptr || !first->starts_with("-v")) return;
  set_name(reader, call,
           first->size() > 2       ? literal(first->substr(2))
           : call.words.size() > 2 ? call.words[2]
                                   : Argument{});
}

// `getopts`.
void parse_options(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  const std::string* first = text_at(call, 1);
  const std::size_t at = first != nullptr && *first == "--" ? 3 : 2;
  if (call.words.size() > at) set_name(reader, call, call.words[at]);
  if (call.words.size() > 1 && call.words[1].word.many) set_name(reader, call, {});
}

// `wait`: `-p NAME` sets a variable, also after other letters.
void await_jobs(ShellReader& reader, const Invocation& call) {
  reader.add_plain("none");
  const bool sets = std::any_of(call.words.begin() + 1, call.words.end(), [](const Argument& each) {
    const std::string* text = each.text();
    return text == nullptr || (text->starts_with('-') && text->contains('p'));
  });
  if (sets) steer(reader, call);
}

bool has_value(const Invocation& call) {
  return std::any_of(call.words.begin() + 1, call.words.end(), [](const Argument& argument) {
    return !argument.word.known() ||
           std::ranges::any_of(argument.word.values,
                               [](const std::string& text) { return text.contains('='); });
  });
}

}  // namespace

bool builtin_effects(ShellReader& reader, const Invocation& call, const std::string& name) {
  constexpr auto kOpaque =
      std::to_array<std::string_view>({"hash", "enable", "bind", "complete", "compgen", "compopt",
                                       "mapfile", "readarray", "crontab", "at", "batch", "fc"});
  if (name == "cd") {
    change_folder(reader, call);
  } else if (name == "pushd" || name == "popd") {
    reader.add_plain("none");
    reader.state().folders.clear();
  } else if (name == "export") {
    set_names(reader, call, "pn");
  } else if (name == "readonly" || name == "declare" || name == "typeset" || name == "local") {
    set_names(reader, call, "xrpgfF");
  } else if (name == "unset") {
    set_names(reader, call, "v");
  } else if (name == "getopts") {
    parse_options(reader, call);
  } else if (name == "wait") {
    await_jobs(reader, call);
  } else if (name == "set") {
    set_options(reader, call);
  } else if (name == "shopt") {
    const std::string* first = text_at(call, 1);
    reader.add_plain("none");
    const bool asks =
        call.words.size() == 1 || (first != nullptr && (*first == "-q" || *first == "-p"));
    if (!asks) reader.opaque(OpaqueReason::Builtin, call);
  } else if (name == "read") {
    read_names(reader, call);
  } else if (name == "let") {
    evaluate_arithmetic(reader, call);
  } else if (name == "eval") {
    evaluate(reader, call);
  } else if (name == "trap") {
    trap(reader, call);
  } else if (name == "source" || name == ".") {
    source(reader, call);
  } else if (name == "test" || name == "[") {
    test(reader, call);
  } else if (name == "printf") {
    print(reader, call);
  } else if (name == "alias" || name == "unalias" || name == "type" || name == "history") {
    reader.add_plain("none");
    if (name == "alias" && has_value(call)) reader.opaque(OpaqueReason::Alias, call);
    if (name == "history" && call.words.size() > 1) reader.opaque(OpaqueReason::Builtin, call);
  } else if (std::ranges::find(kOpaque, name) != kOpaque.end()) {
    reader.opaque(OpaqueReason::Builtin, call);
  } else {
    return false;
  }
  return true;
}

}  // namespace sallyport::effects
