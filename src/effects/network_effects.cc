// The effects of programs that talk to other machines.
#include <algorithm>

#include "base/lower_case.h"
#include "effects/path_text.h"
#include "effects/program_effects.h"
#include "effects/written_names.h"

namespace sallyport::effects {

namespace {

// Where the host of an address ends: the place of the slash behind it, or the end.
std::size_t end_of_host(std::string_view address) {
  const std::size_t scheme = address.find("://");
  const std::size_t start = scheme == std::string_view::npos ? 0 : scheme + 3;
  return std::min(address.size(), address.find('/', start));
}

// The file that a download writes if no name is given.
Argument remote_name(const Argument& address, const Argument& page) {
  const std::string* text = address.text();
  if (text == nullptr) return {};
  std::string_view rest = *text;
  rest = rest.substr(0, rest.find_first_of("?#"));
  if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos)
    rest.remove_prefix(scheme + 3);
  const std::size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == rest.size()) return page;
  const std::string_view name = rest.substr(slash + 1);
  if (name.find_first_of("%{}[]") != std::string_view::npos) return {};
  return literal(std::string(name));
}

Argument in_given_folder(const Argument* folder, const Argument& file) {
  return folder == nullptr ? file : in_folder(*folder, file);
}

// Reads the parts of a form: `name=@a,"b";type=text/plain;headers=@c`.
class FormParts {
 public:
  explicit FormParts(std::string_view text) : text_(text) {}

  std::vector<std::string> files() {
    at_ = std::min(text_.size(), text_.find('=')) + 1;
    const char first = peek();
    lists_ = first == '@';
    if (first == '@' || first == '<') {
      ++at_;
      files_.push_back(value());
    } else {
      (void)value();
    }
    while (at_ < text_.size()) {
      const bool file = text_[at_++] == ',';
      if (file) {
        files_.push_back(value());
      } else {
        attribute();
      }
    }
    return std::move(files_);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool ends() const { return peek() == ';' || (lists_ && peek() == ','); }

  void attribute() {
    constexpr std::string_view kHeaders = "headers=";
    while (peek() == ' ' || peek() == '\t') ++at_;
    const bool headers = std::ranges::equal(text_.substr(at_).substr(0, kHeaders.size()), kHeaders,
                                            {}, lower_letter);
    while (at_ < text_.size() && !ends() && peek() != '=') ++at_;
    if (peek() != '=') return;
    ++at_;
    const bool file = headers && (peek() == '@' || peek() == '<');
    if (file) ++at_;
    std::string text = value();
    if (file) files_.push_back(std::move(text));
  }

  // A word, maybe in quotes, up to the next separator.
  std::string value() {
    while (peek() == ' ' || peek() == '\t') ++at_;
    std::string out;
    if (peek() == '"') {
      for (++at_; at_ < text_.size() && peek() != '"'; ++at_) {
        const bool escaped = peek() == '\\' && at_ + 1 < text_.size() &&
                             std::string_view("\"\\").contains(text_[at_ + 1]);
        if (escaped) ++at_;
        out += peek();
      }
      while (at_ < text_.size() && !ends()) ++at_;
      return out;
    }
    for (; at_ < text_.size() && !ends(); ++at_) out += peek();
    while (out.ends_with(' ') || out.ends_with('\t')) out.pop_back();
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool lists_ = false;
  std::vector<std::string> files_{};
};

// The files that the value of an option of curl names.
std::vector<std::string> files_in_value(char meaning, const std::string& text) {
  if (meaning == 'm') return FormParts(text).files();
  const std::size_t at = text.find('@');
  const bool named =
      (meaning == 'e' && !text.contains('=')) || (meaning == 'v' && text.find('=') > at);
  if (at == std::string::npos || (at > 0 && !named)) return {};
  return {text.substr(at + 1)};
}

// `#1` is what a `{..}` of the address stands for.
bool has_number_mark(std::string_view name) {
  for (std::size_t at = name.find('#'); at != std::string_view::npos; at = name.find('#', at + 1)) {
    if (at + 1 < name.size() && name[at + 1] >= '0' && name[at + 1] <= '9') return true;
  }
  return false;
}

bool is_standard_stream(const Argument& argument) {
  const std::string* text = argument.text();
  return text != nullptr && *text == "-";
}

void curl_option(ShellReader& reader, const GivenOption& given, const Argument* folder) {
  const char meaning = given.option->meaning;
  const std::string* text = given.value->text();
  if (std::string_view("demv").contains(meaning)) {
    if (text == nullptr) return reader.add_path("fs.read", {});
    for (const std::string& file : files_in_value(meaning, *text)) {
      if (file != "-") reader.add_path("fs.read", literal(file));
    }
  }
  if (meaning == 't' && !is_standard_stream(*given.value)) {
    const bool globs = text == nullptr || text->find_first_of("{}[]") != std::string::npos;
    reader.add_path("fs.read", globs ? Argument{} : *given.value);
  }
  if (meaning == 'o' && !is_standard_stream(*given.value)) {
    const bool unknown = text == nullptr || has_number_mark(*text);
    reader.add_path("fs.write", unknown ? Argument{} : *given.value);
  }
  // A cookie file, unless it is a cookie.
  if (meaning == 'b' && (text == nullptr || !text->contains('=')))
    reader.add_path("fs.read", *given.value);
  // curl connects to another host than the address names.
  if (meaning == 'h') reader.add_host({});
  if (meaning == 'u') {
    reader.add_host({});
    reader.add_path("fs.write", *given.value);
  }
  const bool prints = given.option->spellings.front() == "-w";
  if (prints && (text == nullptr || text->contains("%output{") || text->starts_with('@')))
    reader.add_path("fs.write", {});
  if ((meaning == '>' || meaning == 'o') && folder != nullptr)
    reader.add_path("fs.write", in_folder(*folder, *given.value));
}

void curl(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("curl")->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  if (arguments.has('N')) return reader.add_plain("none");
  for (const Argument& address : arguments.operands) reader.add_host(address);
  const Argument* folder = arguments.value("--output-dir");
  for (const GivenOption& given : arguments.options) {
    // The value of such an option holds variables.
    const bool expands = given.option == nullptr && given.spelling.starts_with("--expand-");
    if (expands) reader.opaque(OpaqueReason::Configuration, call);
    if (given.option != nullptr && given.value) curl_option(reader, given, folder);
  }
  option_effects(reader, call, arguments);
  const bool by_name = arguments.has("--remote-name") || arguments.has("--remote-name-all");
  if (by_name) {
    for (const Argument& address : arguments.operands) {
      const Argument name = remote_name(address, literal("index.html"));
      reader.add_path("fs.write", arguments.has("-J") ? Argument{} : in_given_folder(folder, name));
    }
  }
  if (arguments.operands.empty() && arguments.value("--url") == nullptr) reader.add_host({});
  if (arguments.unclear &&
      std::ranges::any_of(arguments.operands, [](const Argument& a) { return a.word.many; })) {
    reader.opaque(OpaqueReason::Expansion, call);
  }
}

// The file of an address if folders are made: `HOST/PATH`. No value: its name is unknown.
std::optional<std::string> name_with_folders(const Arguments& arguments, const Argument& address,
                                             const Argument& page) {
  const std::string* text = address.text();
  const bool plain = text != nullptr && page.text() != nullptr &&
                     text->find_first_of("%?#") == std::string::npos &&
                     arguments.value("--cut-dirs") == nullptr &&
                     !arguments.has("--protocol-directories");
  if (!plain) return std::nullopt;
  const std::size_t end = end_of_host(*text);
  const std::size_t scheme = text->find("://");
  const std::size_t start = scheme == std::string::npos ? 0 : scheme + 3;
  std::string path = end < text->size() ? text->substr(end + 1) : std::string();
  if (path.empty() || path.ends_with('/')) path += *page.text();
  return arguments.has("-nH") ? path : text->substr(start, end - start) + "/" + path;
}

void wget_files(ShellReader& reader, const Arguments& arguments) {
  const Argument* folder = arguments.value("-P");
  const Argument* named = arguments.value("--default-page");
  const Argument page = named != nullptr ? *named : literal("index.html");
  const bool many = arguments.has('R') || arguments.value("-i") != nullptr;
  // The server, or a list, names the files.
  const bool unknown = arguments.has("-r") || arguments.has("-m") || arguments.has("-p") ||
                       arguments.has("--content-disposition") || arguments.value("-i") != nullptr;
  const Argument here = folder != nullptr ? *folder : literal(".");
  if (many) reader.add_path("fs.write", here, true);
  if (unknown) reader.add_path("fs.write", here, false, true);
  for (const Argument& address : arguments.operands) {
    if (!many || arguments.has("-nd")) {
      reader.add_path("fs.write", in_given_folder(folder, remote_name(address, page)));
      continue;
    }
    const std::optional<std::string> name = name_with_folders(arguments, address, page);
    if (name) {
      reader.add_path("fs.write", in_given_folder(folder, literal(*name)));
    } else {
      reader.add_path("fs.write", here, false, true);
    }
  }
}

void wget(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("wget")->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  if (arguments.has('N')) return reader.add_plain("none");
  for (const Argument& address : arguments.operands) reader.add_host(address);
  option_effects(reader, call, arguments);
  if (arguments.operands.empty()) reader.add_host({});
  if (arguments.value("-i") != nullptr) reader.add_host({});
  if (arguments.value("-O") == nullptr && !arguments.has("--spider")) wget_files(reader, arguments);
  if (arguments.unclear &&
      std::ranges::any_of(arguments.operands, [](const Argument& a) { return a.word.many; })) {
    reader.opaque(OpaqueReason::Expansion, call);
  }
}

void netcat(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("nc")->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  const bool listens = arguments.has("-l");
  reader.add_host(arguments.operands.empty() || listens ? Argument{} : arguments.operands[0]);
  option_effects(reader, call, arguments);
  if (arguments.unclear) reader.opaque(OpaqueReason::Expansion, call);
}

// `telnet` and `ftp` run what stands behind `!` on a line of their input.
void terminal(ShellReader& reader, const Invocation& call, const std::string& name) {
  const std::vector<Option>& options = options_of(find_program(name)->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  for (const Argument& host : arguments.operands) reader.add_host(host);
  option_effects(reader, call, arguments);
  if (call.input.remote) reader.remote_code();
  reader.opaque(call.input.document ? OpaqueReason::Heredoc : OpaqueReason::Stdin, call);
}

// `user@host:path`, `host::module`; null text: a local path.
std::optional<std::string> remote_host(const std::string& text) {
  if (text.contains("://")) return text;
  const std::size_t colon = text.find(':');
  const std::size_t slash = text.find('/');
  if (colon == std::string::npos || (slash != std::string::npos && slash < colon))
    return std::nullopt;
  if (text.starts_with('[')) return text.substr(0, text.find(']') + 1);
  return text.substr(0, colon);
}

void ssh(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("ssh")->options);
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = options, .stop_at_operand = true});
  if (arguments.has('N') && arguments.next >= call.words.size()) return reader.add_plain("none");
  reader.add_host(arguments.next < call.words.size() ? call.words[arguments.next] : Argument{});
  option_effects(reader, call, arguments);
  reader.opaque(OpaqueReason::Remote, call);
}

// What the target folder of `scp` and `rsync` receives from a source.
Argument copied_name(const Argument& source, bool rsync) {
  const std::string* text = source.text();
  if (text == nullptr) return {};
  // The content of a folder.
  if (rsync && text->ends_with('/')) return literal(".");
  if (!remote_host(*text)) return source;
  // The other machine expands globs.
  if (text->find_first_of("*?[]{}$`\\") != std::string::npos) return {};
  const std::string name(last_segment(*text));
  return literal(name.substr(name.rfind(':') + 1));
}

// The last operand, if it is a folder of this machine or may be one.
std::optional<Argument> target_folder(ShellReader& reader, const std::vector<Argument>& operands) {
  if (operands.size() < 2 || !operands.back().word.known()) return std::nullopt;
  Argument target = operands.back();
  std::erase_if(target.word.values, [](const std::string& text) { return remote_host(text); });
  if (operands.size() == 2 && !may_be_folder(reader, target)) return std::nullopt;
  return target;
}

void copies_in_target(ShellReader& reader, const Arguments& arguments, const Argument& target,
                      bool rsync) {
  const std::vector<Argument>& operands = arguments.operands;
  std::vector<Argument> names;
  for (std::size_t i = 0; i + 1 < operands.size(); ++i)
    names.push_back(copied_name(operands[i], rsync));
  const bool whole = rsync && (arguments.has("-R") || arguments.has("--relative"));
  const bool trees = arguments.has("-a") || arguments.has("-r") || arguments.has("--archive") ||
                     arguments.has("--recursive");
  const bool recursive = rsync ? trees : arguments.has('R');
  add_files_in(reader, target, names, {.whole = whole, .recursive = recursive});
}

void copy_remote(ShellReader& reader, const Invocation& call, const std::string& name) {
  const std::vector<Option>& scpOptions = options_of(find_program("scp")->options);
  const std::vector<Option>& rsyncOptions = options_of(find_program("rsync")->options);
  const bool rsync = name == "rsync";
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = rsync ? rsyncOptions : scpOptions});
  option_effects(reader, call, arguments);
  const std::vector<Argument>& operands = arguments.operands;
  // Computed once: a line may have thousands of options and operands.
  const bool recursive = rsync || arguments.has('R');
  const bool deletes = arguments.has('D');
  const bool moves = arguments.has('S');
  // Asked before the writes below: what this line writes may be a folder.
  const std::optional<Argument> folder = target_folder(reader, operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool target = i + 1 == operands.size() && operands.size() > 1;
    if (!operands[i].word.known()) {
      reader.add_host({});
      reader.add_path(target || operands[i].word.many ? "fs.write" : "fs.read", operands[i], true);
      continue;
    }
    for (const std::string& text : operands[i].word.values) {
      const auto host = remote_host(text);
      if (host || name == "sftp") {
        reader.add_host(literal(host.value_or(text)));
        continue;
      }
      reader.add_path(target ? "fs.write" : "fs.read", literal(text), recursive);
      if (target && deletes) reader.add_path("fs.delete", literal(text), true);
      if (!target && moves) reader.add_path("fs.delete", literal(text), true);
    }
  }
  if (folder && name != "sftp") copies_in_target(reader, arguments, *folder, rsync);
  if (operands.empty()) reader.add_host({});
  if (name == "sftp") reader.opaque(OpaqueReason::Remote, call);
  if (arguments.unclear) reader.opaque(OpaqueReason::Expansion, call);
}

}  // namespace

bool network_effects(ShellReader& reader, const Invocation& call, const std::string& name) {
  if (name == "curl") {
    curl(reader, call);
  } else if (name == "wget") {
    wget(reader, call);
  } else if (name == "nc" || name == "ncat" || name == "netcat") {
    netcat(reader, call);
  } else if (name == "telnet" || name == "ftp") {
    terminal(reader, call, name);
  } else if (name == "ssh") {
    ssh(reader, call);
  } else if (name == "scp" || name == "sftp" || name == "rsync") {
    copy_remote(reader, call, name);
  } else {
    return false;
  }
  return true;
}

}  // namespace sallyport::effects
