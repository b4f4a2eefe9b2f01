// Programs that talk to other machines.
#include <algorithm>

#include "effects/path_text.h"
#include "effects/program_effects.h"

namespace sallyport::effects {

namespace {

// The file that a download without a name writes.
Argument remote_name(const Argument& address) {
  const std::string* text = address.text();
  if (text == nullptr) return {};
  std::string_view rest = *text;
  rest = rest.substr(0, rest.find_first_of("?#"));
  if (const std::size_t scheme = rest.find("://"); scheme != std::string_view::npos)
    rest.remove_prefix(scheme + 3);
  const std::size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == rest.size()) return literal("index.html");
  const std::string_view name = rest.substr(slash + 1);
  if (name.find_first_of("%{[") != std::string_view::npos) return {};
  return literal(std::string(name));
}

Argument in_folder(const Argument* folder, const Argument& file) {
  if (folder == nullptr) return file;
  const std::string* name = file.text();
  const std::string* text = folder->text();
  if (name == nullptr || text == nullptr) return {};
  return literal(*text + "/" + *name);
}

void curl(ShellReader& reader, const Invocation& call) {
  const std::vector<Option>& options = options_of(find_program("curl")->options);
  const Arguments arguments = read_arguments(call.words, 1, {.options = options});
  if (arguments.has('N')) return reader.add_plain("none");
  for (const Argument& address : arguments.operands) reader.add_host(address);
  const Argument* folder = arguments.value("--output-dir");
  for (const GivenOption& given : arguments.options) {
    if (given.option == nullptr || !given.value) continue;
    const char meaning = given.option->meaning;
    if (meaning == 'd') {
      // `@file`, `name@file`, `name=@file`, `name=<file`.
      const std::string* text = given.value->text();
      if (text == nullptr) {
        reader.add_path("fs.read", {});
        continue;
      }
      const bool form = given.spelling == "-F" || given.spelling.starts_with("--form");
      const bool header = given.spelling == "-H" || given.spelling == "--header";
      const std::size_t at = form ? text->find_first_of("@<") : text->find('@');
      const bool file = at == 0 || (!header && at != std::string::npos &&
                                    (form || given.spelling == "--data-urlencode"));
      if (file) {
        const std::string name = text->substr(at + 1);
        const std::string path = form ? name.substr(0, name.find_first_of(";,")) : name;
        if (path != "-") reader.add_path("fs.read", literal(path));
      }
    }
    // A cookie file, unless it is a cookie.
    if (meaning == 'b' && (given.value->text() == nullptr || !given.value->text()->contains('='))) {
      reader.add_path("fs.read", *given.value);
    }
    // It connects to another place than the address says.
    if (meaning == 'h') reader.add_host({});
    if (meaning == 'u') {
      reader.add_host({});
      reader.add_path("fs.write", *given.value);
    }
    const std::string* format = given.value->text();
    const bool says = given.spelling == "-w" || given.spelling.starts_with("--write-out");
    if (says && (format == nullptr || format->contains("%output{") || format->starts_with('@')))
      reader.add_path("fs.write", {});
    if (meaning == '>' && folder != nullptr)
      reader.add_path("fs.write", in_folder(folder, *given.value));
  }
  option_effects(reader, call, arguments);
  const bool by_name = arguments.has("--remote-name") || arguments.has("--remote-name-all");
  if (by_name) {
    for (const Argument& address : arguments.operands) {
      reader.add_path("fs.write",
                      arguments.has("-J") ? Argument{} : in_folder(folder, remote_name(address)));
    }
  }
  if (arguments.operands.empty() && arguments.value("--url") == nullptr) reader.add_host({});
  if (arguments.unclear &&
      std::ranges::any_of(arguments.operands, [](const Argument& one) { return one.word.many; })) {
    reader.opaque(OpaqueReason::Expansion, call);
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
  const Argument* folder = arguments.value("-P");
  if (arguments.value("-O") == nullptr && !arguments.has("--spider")) {
    if (arguments.has('R') || arguments.value("-i") != nullptr) {
      reader.add_path("fs.write", folder != nullptr ? *folder : literal("."), true);
    } else {
      for (const Argument& address : arguments.operands)
        reader.add_path("fs.write", in_folder(folder, remote_name(address)));
    }
  }
  if (arguments.unclear &&
      std::ranges::any_of(arguments.operands, [](const Argument& one) { return one.word.many; })) {
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

void copy_remote(ShellReader& reader, const Invocation& call, const std::string& name) {
  const std::vector<Option>& scpOptions = options_of(find_program("scp")->options);
  const std::vector<Option>& rsyncOptions = options_of(find_program("rsync")->options);
  const bool rsync = name == "rsync";
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = rsync ? rsyncOptions : scpOptions});
  option_effects(reader, call, arguments);
  const std::vector<Argument>& operands = arguments.operands;
  // Asked once: a line may have thousands of options and of operands.
  const bool recursive = rsync || arguments.has('R');
  const bool deletes = arguments.has('D');
  const bool moves = arguments.has('S');
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
