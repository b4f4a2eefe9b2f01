// Programs that talk to other machines.
#include <algorithm>

#include "effects/path_text.h"
#include "effects/program_effects.h"

namespace sallyport::effects {

namespace {

constexpr std::string_view kCurl =
    "-o,--output=> -O,--remote-name --remote-name-all -J,--remote-header-name --output-dir= "
    "-d,--data,--data-ascii,--data-binary,--data-urlencode,--json=d --data-raw= "
    "-F,--form=d --form-string= -T,--upload-file=< "
    "-x,--proxy,--preproxy,--socks4,--socks4a,--socks5,--socks5-hostname,--proxy1.0=@ --url=@ "
    "--doh-url=@ -K,--config=C "
    "-c,--cookie-jar=> -b,--cookie=b -D,--dump-header=> --trace,--trace-ascii=> --stderr=> "
    "--libcurl=> --etag-save=> --hsts=> --alt-svc=> "
    "--cacert,--capath,--cert,-E,--key,--netrc-file,--crlfile,--etag-compare=< "
    "--connect-to,--resolve=h -u,--user= -U,--proxy-user= -H,--header=d -A,--user-agent= "
    "-e,--referer= "
    "-X,--request= -m,--max-time= --connect-timeout= -w,--write-out= --retry= --retry-delay= "
    "--retry-max-time= -r,--range= -C,--continue-at= -y= -Y= -z,--time-cond= --limit-rate= "
    "--max-filesize= --max-redirs= --interface= --local-port= "
    "--unix-socket,--abstract-unix-socket=< -t,--telnet-option= -Q,--quote= -P,--ftp-port= "
    "--ciphers= --tls-max= --engine=! "
    "--dns-servers= --oauth2-bearer= --aws-sigv4= --variable= --expand-url=h --rate= "
    "--parallel-max= --noproxy= --cert-type= --key-type= --pass= --pinnedpubkey= --proto= "
    "--proto-default= "
    "--keepalive-time= --speed-limit= --speed-time= -V,--version:N -h,--help:N -L -s -S -f -k -i "
    "-I -v -g -G -n -N -q -R -Z -# --compressed --http1.1 --http2 --fail-with-body -j -l -a -B -p "
    "-0 -1 -2 -3 -4 -6";
constexpr std::string_view kWget =
    "-O,--output-document=> -o,--output-file=> -a,--append-output=> -P,--directory-prefix= "
    "-i,--input-file=< --post-file,--body-file=< -e,--execute=C --config=C --use-askpass=! "
    "--load-cookies=< --save-cookies=> --ca-certificate,--certificate,--private-key,--crl-file=< "
    "--warc-file=> --rejected-log=> --hsts-file=> -B,--base= -t,--tries= -T,--timeout= -w,--wait= "
    "-U,--user-agent= --header= --user= --password= -Q,--quota= -l,--level= -A,--accept= "
    "-R,--reject= -D,--domains= -I= -X= --post-data= --body-data= --method= --referer= "
    "--limit-rate= "
    "--bind-address= --dns-timeout= --connect-timeout= --read-timeout= --waitretry= "
    "--max-redirect= --progress= --cut-dirs= -r,--recursive:R -m,--mirror:R -p,--page-requisites:R "
    "-V,--version:N -h,--help:N -q -nv -c -N -nc -nd -nH -x -S -v -b --spider "
    "--no-check-certificate --content-disposition:R -E -k -K -np -H -L -4 -6";
constexpr std::string_view kSsh =
    "-b= -c= -D= -E=> -e= -F=! -I=! -i=< -J=@ -L= -l= -m= -O= -o=! -p= -Q= -R= -S= -W= -w= -B= -P= "
    "-X= -s -t -T -v -q -N -f -n -A -a -C -g -K -k -M -x -Y -y -4 -6 -V:N";
constexpr std::string_view kScp =
    "-c= -F=! -i=< -J=@ -l= -o=! -P= -S=! -D=! -X= -b=< -B= -R= -s= -r:R -p -q -v -C -3 -4 -6 -A "
    "-O -T";
constexpr std::string_view kRsync =
    "-e,--rsh=! --rsync-path=! --files-from=< --exclude-from=< --include-from=< --password-file=< "
    "--log-file=> --backup-dir= --partial-dir= -T,--temp-dir= --link-dest= --compare-dest= "
    "--copy-dest= -f,--filter= --exclude= --include= --bwlimit= --timeout= --port= --chmod= "
    "--chown= --max-size= --min-size= --suffix= --info= --debug= --out-format= -B= "
    "-M,--remote-option= "
    "--delete,--del,--delete-before,--delete-during,--delete-delay,--delete-after,--delete-"
    "excluded,--delete-missing-args:D --remove-source-files:S --write-batch=> --only-write-batch=> "
    "--read-batch=< "
    "--address= --sockopts= --config= --iconv= --skip-compress= --protocol= --modify-window= -a -v "
    "-z -r -n -u -P -h -i -c -b -l -L -p -t -g -o -x -S -H -A -X -q --progress --stats --dry-run";
constexpr std::string_view kNetcat =
    "-e,--exec=! -c,--sh-exec=! --lua-exec=! -X= -x,--proxy=@ -p,--source-port= -s,--source= "
    "-w,--wait= -i,--idle-timeout= -q= -I= -O= -T= -V= -P= -m= -M= -o,--output=> -l,--listen -k -u "
    "-v -z -n -4 -6 -U -t -d";

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
  static const std::vector<Option> kOptions = read_option_groups(kCurl);
  const Arguments arguments = read_arguments(call.words, 1, {.options = kOptions});
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
  static const std::vector<Option> kOptions = read_option_groups(kWget);
  const Arguments arguments = read_arguments(call.words, 1, {.options = kOptions});
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
  static const std::vector<Option> kOptions = read_option_groups(kNetcat);
  const Arguments arguments = read_arguments(call.words, 1, {.options = kOptions});
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
  static const std::vector<Option> kOptions = read_option_groups(kSsh);
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = kOptions, .stop_at_operand = true});
  if (arguments.has('N') && arguments.next >= call.words.size()) return reader.add_plain("none");
  reader.add_host(arguments.next < call.words.size() ? call.words[arguments.next] : Argument{});
  option_effects(reader, call, arguments);
  reader.opaque(OpaqueReason::Remote, call);
}

void copy_remote(ShellReader& reader, const Invocation& call, const std::string& name) {
  static const std::vector<Option> kScpOptions = read_option_groups(kScp);
  static const std::vector<Option> kRsyncOptions = read_option_groups(kRsync);
  const bool rsync = name == "rsync";
  const Arguments arguments =
      read_arguments(call.words, 1, {.options = rsync ? kRsyncOptions : kScpOptions});
  option_effects(reader, call, arguments);
  const std::vector<Argument>& operands = arguments.operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool target = i + 1 == operands.size() && operands.size() > 1;
    if (!operands[i].word.known()) {
      reader.add_host({});
      reader.add_path(target || operands[i].word.many ? "fs.write" : "fs.read", operands[i], true);
      continue;
    }
    for (const std::string& text : operands[i].word.values) {
      if (const auto host = remote_host(text)) {
        reader.add_host(literal(*host));
        continue;
      }
      const bool recursive = rsync || arguments.has('R');
      reader.add_path(target ? "fs.write" : "fs.read", literal(text), recursive);
      if (target && arguments.has('D')) reader.add_path("fs.delete", literal(text), true);
      if (!target && arguments.has('S')) reader.add_path("fs.delete", literal(text), true);
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
