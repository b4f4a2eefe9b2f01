// File programs with a syntax of their own, such as sed, tar and find. Programs such as rm and cp need
// only their row in program_table.cc, which `operand_effects` in program_effects.cc reads.
#include <algorithm>
#include <array>

#include "effects/path_text.h"
#include "effects/program_effects.h"

namespace sallyport::effects {

namespace {

void read_script(ShellReader& reader, const Invocation& call, const Argument& script,
                 bool (*plain)(std::string_view)) {
  const bool good = script.word.known() && std::ranges::all_of(script.word.values, plain);
  if (!good) {
    if (script.remote) reader.remote_code();
    reader.opaque(OpaqueReason::Code, call);
  }
}

void sed_or_awk(ShellReader& reader, const Invocation& call, bool sed) {
  const std::vector<Option>& sedOptions = options_of(find_program("sed")->options);
  const std::vector<Option>& awkOptions = options_of(find_program("awk")->options);
  const std::vector<Option>& options = sed ? sedOptions : awkOptions;
  const Arguments arguments =
      sed ? read_arguments(call.words, 1, {.options = options})
          : read_arguments(call.words, 1, {.options = options, .stop_at_operand = true});
  std::vector<Argument> operands = arguments.operands;
  if (!sed) {
    // The words after the script belong to the script.
    for (std::size_t i = arguments.next; i < call.words.size(); ++i)
      operands.push_back(call.words[i]);
  }
  const std::size_t before = reader.effect_count();
  option_effects(reader, call, arguments);
  bool given = false;
  for (const GivenOption& option : arguments.options) {
    if (option.option == nullptr || !option.value) continue;
    if (option.option->meaning == 's') {
      given = true;
      read_script(reader, call, *option.value, sed ? is_plain_sed_script : is_plain_awk_script);
    }
    if (option.option->meaning == 'f') {
      given = true;
      reader.add_path("fs.read", *option.value);
      if (reader.was_downloaded(*option.value)) reader.remote_code();
      reader.opaque(OpaqueReason::Code, call);
    }
  }
  if (!given && !operands.empty()) {
    read_script(reader, call, operands[0], sed ? is_plain_sed_script : is_plain_awk_script);
    operands.erase(operands.begin());
  }
  const bool writes = arguments.has("-i");
  for (const GivenOption& option : arguments.options) {
    // `sed -i/elsewhere/*` keeps the old file there; `gawk -oFILE` writes the program.
    const bool backup = sed && option.spelling.starts_with(option.spelling == "-i" ? "-i" : "--in");
    const bool dump =
        !sed && (option.spelling == "-o" || option.spelling == "-p" || option.spelling == "-d" ||
                 option.spelling.starts_with("--pretty") || option.spelling.starts_with("--prof") ||
                 option.spelling.starts_with("--dump"));
    const std::string* text = option.value ? option.value->text() : nullptr;
    if (backup && text != nullptr && text->contains('/')) reader.add_path("fs.write", {});
    if (dump)
      reader.add_path("fs.write", text != nullptr ? literal(*text) : literal("awkprof.out"));
  }
  for (const Argument& file : operands) {
    const std::string* text = file.text();
    if (text != nullptr && (*text == "-" || (!sed && text->contains('=') && !text->contains('/'))))
      continue;
    if (writes) reader.add_path("fs.write", file);
    reader.add_path("fs.read", file);
  }
  if (arguments.unclear && sed) reader.opaque(OpaqueReason::Expansion, call);
  if (reader.effect_count() == before) reader.add_plain("none");
}

// `tar xf a.tar`: the first word has options without a dash.
Invocation letters_apart(Invocation call, const std::vector<Option>& options) {
  const std::string* const first = call.words.size() > 1 ? call.words[1].text() : nullptr;
  if (first == nullptr || first->starts_with('-') || first->empty()) return call;
  // Their values follow in order; after a dash only the last letter could take one.
  std::vector<Argument> apart{call.words[0]};
  std::size_t next = 2;
  for (const char letter : *first) {
    apart.push_back(literal(std::string{'-', letter}));
    const Option* option = find_option(options, std::string{'-', letter});
    if (option != nullptr && option->takes_value && next < call.words.size())
      apart.push_back(call.words[next++]);
  }
  for (; next < call.words.size(); ++next) apart.push_back(call.words[next]);
  call.words = std::move(apart);
  return call;
}

void tar(ShellReader& reader, const Invocation& given) {
  const std::vector<Option>& options = options_of(find_program("tar")->options);
  const Invocation call = letters_apart(given, options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  const bool creates = arguments.has("-c") || arguments.has("-r") || arguments.has("-u") ||
                       arguments.has("-A") || arguments.has("--delete");
  const bool extracts = arguments.has("-x");
  const std::size_t before = reader.effect_count();
  option_effects(reader, call, arguments);
  // The files in a list of files are read too.
  if (creates && arguments.value("--files-from") != nullptr) reader.add_path("fs.read", {});
  if (const Argument* archive = arguments.value("-f")) {
    const std::string* text = archive->text();
    if (text == nullptr || *text != "-")
      reader.add_path(creates ? "fs.write" : "fs.read", *archive);
    // `host:file`: it starts a remote shell.
    if (text != nullptr && text->contains(':') && !arguments.has("--force-local")) {
      reader.add_host(literal(text->substr(0, text->find(':'))));
      reader.opaque(OpaqueReason::Interpreter, call);
    }
  }
  const ShellState state = reader.state();
  const auto extract = [&](const Argument& folder) {
    reader.add_path("fs.write", arguments.has("-P") ? Argument{} : folder, true);
    reader.unpack(folder);
  };
  bool moved = false;
  for (const GivenOption& option : arguments.options) {
    const bool moves =
        option.option != nullptr && option.value &&
        std::ranges::find(option.option->spellings, "-C") != option.option->spellings.end();
    if (!moves) continue;
    moved = true;
    reader.set_folder(*option.value);
    if (extracts) extract(literal("."));
  }
  if (extracts && !moved) extract(literal("."));
  if (const Argument* top = arguments.value("--one-top-level"); extracts && top != nullptr)
    extract(*top);
  if (creates) {
    for (const Argument& file : arguments.operands) reader.add_path("fs.read", file, true);
    if (arguments.has("--remove-files")) {
      for (const Argument& file : arguments.operands) reader.add_path("fs.delete", file, true);
    }
  }
  reader.state() = state;
  if (arguments.unclear) reader.opaque(OpaqueReason::Expansion, call);
  if (reader.effect_count() == before) reader.add_plain("none");
}

void unzip(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("unzip")->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  if (!arguments.operands.empty()) reader.add_path("fs.read", arguments.operands[0]);
  const bool looks = arguments.has("-l") || arguments.has("-t") || arguments.has("-p") ||
                     arguments.has("-Z") || arguments.has("-z") || arguments.has("-v");
  if (const Argument* folder = arguments.value("-d")) {
    reader.add_path("fs.write", *folder, true);
    reader.unpack(*folder);
  } else if (!looks || arguments.unclear) {
    reader.add_here("fs.write", true);
    reader.unpack(literal("."));
  }
}

void patch(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("patch")->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  option_effects(reader, call, arguments);
  const ShellState state = reader.state();
  if (const Argument* folder = arguments.value("-d")) reader.set_folder(*folder);
  if (arguments.operands.empty()) {
    reader.add_here("fs.write", true);
  } else {
    reader.add_path("fs.write", arguments.operands[0]);
    if (arguments.operands.size() > 1) reader.add_path("fs.read", arguments.operands[1]);
  }
  reader.state() = state;
}

void dd(ShellReader& reader, const Invocation& call) {
  const std::size_t before = reader.effect_count();
  for (std::size_t i = 1; i < call.words.size(); ++i) {
    const Word& word = call.words[i].word;
    if (!word.known()) reader.add_path("fs.write", {});
    for (const std::string& value : word.values) {
      if (value.starts_with("if=")) reader.add_path("fs.read", literal(value.substr(3)));
      if (value.starts_with("of=")) reader.add_path("fs.write", literal(value.substr(3)));
    }
  }
  if (reader.effect_count() == before) reader.add_plain("none");
}

void mktemp(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("mktemp")->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  const Argument* folder = arguments.value("-p");
  if (folder != nullptr) return reader.add_path("fs.write", *folder, false, true);
  const bool in_temp =
      arguments.operands.empty() || arguments.has("-t") || arguments.has("--tmpdir");
  if (in_temp) return reader.add_path("fs.write", literal("/tmp"), false, true);
  reader.add_path("fs.write", arguments.operands[0]);
}

// `find`: paths, then an expression.
class Find {
 public:
  Find(ShellReader& reader, const Invocation& call) : reader_(reader), call_(call) {}

  void run() {
    read_paths();
    for (const Argument& path : paths_) reader_.add_path("fs.read", path, true);
    for (; at_ < call_.words.size(); ++at_) {
      const std::string* word = call_.words[at_].text();
      if (word == nullptr) {
        unclear_ = true;
      } else {
        read_word(*word);
      }
    }
    if (deletes_) {
      for (const Argument& path : paths_) reader_.add_path("fs.delete", path, !tests_, tests_);
    }
    if (unclear_) reader_.opaque(OpaqueReason::Expansion, call_);
  }

 private:
  static bool is_expression(std::string_view word) {
    return (word.starts_with('-') && word.size() > 1) || word == "(" || word == ")" ||
           word == "!" || word == ",";
  }

  void read_paths() {
    at_ = 1;
    while (at_ < call_.words.size()) {
      const std::string* word = call_.words[at_].text();
      if (word != nullptr &&
          (*word == "-H" || *word == "-L" || *word == "-P" || word->starts_with("-O"))) {
        ++at_;
        continue;
      }
      if (word != nullptr && *word == "-D") {
        at_ += 2;
        continue;
      }
      if (word != nullptr && is_expression(*word)) break;
      if (word == nullptr) unclear_ = true;
      paths_.push_back(call_.words[at_++]);
    }
    if (paths_.empty()) paths_.push_back(literal("."));
  }

  void read_word(const std::string& word) {
    constexpr auto kFiles =
        std::to_array<std::string_view>({"-fprint", "-fprint0", "-fprintf", "-fls"});
    constexpr auto kNoTests = std::to_array<std::string_view>(
        {"-print", "-print0", "-delete", "-depth", "-d", "-xdev", "-mount", "-follow", "-ls",
         "-ignore_readdir_race", "-noleaf", "-daystart", "-true"});
    if (word == "-delete") deletes_ = true;
    if (std::ranges::find(kFiles, word) != kFiles.end()) {
      if (at_ + 1 < call_.words.size()) reader_.add_path("fs.write", call_.words[at_ + 1]);
      ++at_;
    } else if (word == "-files0-from") {
      if (at_ + 1 < call_.words.size()) reader_.add_path("fs.read", call_.words[at_ + 1]);
      paths_.emplace_back();
    } else if (word == "-exec" || word == "-execdir" || word == "-ok" || word == "-okdir") {
      execute(word.ends_with("dir"));
    } else if (is_expression(word) && std::ranges::find(kNoTests, word) == kNoTests.end()) {
      tests_ = true;
    }
  }

  // A command up to `;` or `{} +`, with a found path in place of `{}`.
  void execute(bool in_folder) {
    // Does not copy the call: a line may have thousands of these and thousands of words.
    Invocation made{.start = call_.start,
                    .end = call_.end,
                    .level = call_.level + 1,
                    .has_environment = call_.has_environment};
    for (++at_; at_ < call_.words.size(); ++at_) {
      const Argument& argument = call_.words[at_];
      const std::string* word = argument.text();
      if (word != nullptr && (*word == ";" || (*word == "+" && !made.words.empty() &&
                                               !made.words.back().below.empty())))
        break;
      const bool holds = std::ranges::any_of(
          argument.word.values, [](const std::string& value) { return value.contains("{}"); });
      if (word != nullptr && *word == "{}") {
        made.words.push_back(found());
      } else if (holds) {
        made.words.emplace_back();
      } else {
        made.words.push_back(argument);
      }
    }
    const ShellState before = reader_.state();
    if (in_folder) {
      reader_.state().folders.clear();
    }
    if (!made.words.empty()) reader_.run(std::move(made));
    reader_.state() = before;
  }

  Argument found() const {
    Argument out;
    for (const Argument& path : paths_) {
      if (!path.word.known()) return {};
      for (const std::string& text : path.word.values) {
        // If the command starts in another folder, the path must not depend on it.
        const auto& folders = reader_.state().folders;
        const std::optional<std::string> folder =
            folders.size() == 1 ? std::optional(folders[0]) : std::nullopt;
        out.below.push_back(absolute_path(text, folder).value_or(text));
      }
    }
    return out;
  }

  ShellReader& reader_;
  const Invocation& call_;
  std::vector<Argument> paths_{};
  std::size_t at_ = 1;
  bool deletes_ = false;
  bool tests_ = false;
  bool unclear_ = false;
};

}  // namespace

bool file_effects(ShellReader& reader, const Invocation& call, const std::string& name) {
  if (name == "sed") {
    sed_or_awk(reader, call, true);
  } else if (name == "awk" || name == "gawk" || name == "mawk" || name == "nawk") {
    sed_or_awk(reader, call, false);
  } else if (name == "tar") {
    tar(reader, call);
  } else if (name == "unzip") {
    unzip(reader, call);
  } else if (name == "patch") {
    patch(reader, call);
  } else if (name == "dd") {
    dd(reader, call);
  } else if (name == "mktemp") {
    mktemp(reader, call);
  } else if (name == "find") {
    Find(reader, call).run();
  } else {
    return false;
  }
  return true;
}

}  // namespace sallyport::effects
