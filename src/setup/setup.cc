// `sallyport setup --system`: a service with an account of its own, so that the accounts of agents
// can only ask it. Each step is printed, and a step that is done already changes nothing.
#include "setup/setup.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/run_on.h"
#include "base/try.h"
#include "machine/replaced_file.h"
#include "net/process.h"
#include "setup/setup_files.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kUnit = "sallyport.service";

struct SetupAccount {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string shell{};
};

std::unexpected<Error> setup_failed(std::string_view what, const fs::path& where) {
  return fail(ErrorCode::Unavailable, fmt::format("cannot {}: {}", what, std::strerror(errno)),
              where.string());
}

// One run of the command. Steps are printed as they are made; with --dry-run they are only printed.
class Setup {
 public:
  Setup(const Context& context, const SetupOptions& options)
      : context_(context), options_(options) {
    place_.root = options.root.value_or("/");
    place_.user = options.user;
  }

  Result<void> install();
  Result<void> remove();
  Result<void> finish() const;

 private:
  void step(std::string text) {
    if (!context_.json()) print_line((options_.dry_run ? "would " : "") + text);
    steps_.emplace_back(text);
  }
  void advise(std::string text) {
    if (!context_.json()) print_line("then: " + text);
    advice_.emplace_back(std::move(text));
  }

  Result<std::string> program() const;
  Result<void> check_program(const fs::path& program) const;
  Result<std::optional<SetupAccount>> account(const std::string& name) const;
  Result<SetupAccount> make_account(const std::string& name, const fs::path& home);
  Result<void> remove_account(const std::string& name);
  Result<void> make_folder(const fs::path& path, mode_t mode, const SetupAccount& owner);
  Result<void> write_file(const fs::path& path, const std::string& text, mode_t mode, gid_t group,
                          bool keeps);
  Result<void> remove_file(const fs::path& path, const std::optional<std::string>& unchanged);
  Result<void> remove_folder(const fs::path& path, bool with_content);
  Result<void> run(std::vector<std::string> words) const;
  bool has_systemd() const;
  Result<void> start();

  const Context& context_;
  const SetupOptions& options_;
  SetupPlace place_;
  json::array steps_;
  json::array advice_;
};

Result<void> Setup::run(std::vector<std::string> words) const {
  const std::string program = words.front();
  SALLYPORT_TRY(const net::ProcessResult ended,
                run_alone(net::run_process({.arguments = std::move(words)}, {})));
  if (ended.exit_code == 0) return {};
  return fail(ErrorCode::Unavailable,
              fmt::format("`{}` failed: {:.400}", program,
                          ended.output.empty() ? "no reason given" : ended.output));
}

// True if systemd is the init of this machine, and the files are this machine's.
bool Setup::has_systemd() const {
  std::error_code code;
  return !options_.root && fs::is_directory("/run/systemd/system", code);
}

// Refuses a program that others can replace: it runs as the service, and every client trusts it.
Result<void> Setup::check_program(const fs::path& program) const {
  for (fs::path at = program;; at = at.parent_path()) {
    struct stat status{};
    if (::lstat(at.c_str(), &status) != 0) return setup_failed("look at the program", at);
    if (status.st_uid != 0 || (status.st_mode & 022) != 0) {
      return fail(ErrorCode::Conflict,
                  "others than root can replace this program; install it first, as with `make "
                  "install`, and run `setup` of the installed one",
                  at.string());
    }
    if (at == at.root_path()) return {};
  }
}

Result<std::string> Setup::program() const {
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  if (code) return fail(ErrorCode::Unavailable, "cannot find out where this program is");
  if (!options_.root) SALLYPORT_CHECK_OK(check_program(self));
  return self.string();
}

// Read from the file itself, since there may be another root.
Result<std::optional<SetupAccount>> Setup::account(const std::string& name) const {
  std::ifstream in(place_.below("/etc/passwd"));
  if (!in) return setup_failed("read the accounts", place_.below("/etc/passwd"));
  std::string line;
  while (std::getline(in, line)) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, ':');) fields.push_back(field);
    if (fields.size() < 6 || fields[0] != name) continue;
    return SetupAccount{.uid = static_cast<uid_t>(std::strtoul(fields[2].c_str(), nullptr, 10)),
                        .gid = static_cast<gid_t>(std::strtoul(fields[3].c_str(), nullptr, 10)),
                        .shell = fields.size() > 6 ? fields[6] : ""};
  }
  return std::nullopt;
}

Result<SetupAccount> Setup::make_account(const std::string& name, const fs::path& home) {
  SALLYPORT_TRY(std::optional<SetupAccount> there, account(name));
  if (there && (there->uid == 0 || !there->shell.ends_with("/nologin"))) {
    return fail(ErrorCode::Conflict, fmt::format("the account `{}` exists and allows a login; name "
                                                 "another with --user",
                                                 name));
  }
  if (there) return *there;
  step(fmt::format("add the account {}", name));
  if (options_.dry_run)
    return SetupAccount{.uid = static_cast<uid_t>(-1), .gid = static_cast<gid_t>(-1)};
  std::vector<std::string> words{"useradd",    "--system",    "--user-group", "--no-create-home",
                                 "--home-dir", home.string(), "--shell",      "/usr/sbin/nologin"};
  if (options_.root) words.insert(words.end(), {"--prefix", place_.root.string()});
  words.push_back(name);
  SALLYPORT_CHECK_OK(run(std::move(words)));
  SALLYPORT_TRY(there, account(name));
  if (!there) return fail(ErrorCode::Internal, fmt::format("`useradd` made no `{}`", name));
  return *there;
}

Result<void> Setup::remove_account(const std::string& name) {
  SALLYPORT_TRY(const std::optional<SetupAccount> there, account(name));
  if (!there) return {};
  step(fmt::format("remove the account {}", name));
  if (options_.dry_run) return {};
  std::vector<std::string> words{"userdel"};
  if (options_.root) words.insert(words.end(), {"--prefix", place_.root.string()});
  words.push_back(name);
  return run(std::move(words));
}

Result<void> Setup::make_folder(const fs::path& path, mode_t mode, const SetupAccount& owner) {
  const fs::path where = place_.below(path);
  struct stat status{};
  const bool there = ::lstat(where.c_str(), &status) == 0;
  if (there && !S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::Conflict, "a folder belongs here; move away what is there",
                where.string());
  }
  const bool right = there && status.st_uid == owner.uid && status.st_gid == owner.gid &&
                     (status.st_mode & 07777) == mode;
  if (right) return {};
  // A folder of another user may hold what that user put there.
  if (there && status.st_uid != owner.uid && status.st_uid != 0) {
    return fail(ErrorCode::Conflict,
                fmt::format("the folder belongs to uid {}; move it away, or give it to uid {}",
                            status.st_uid, owner.uid),
                where.string());
  }
  step(fmt::format("make {} with mode {:o}", where.string(), mode));
  if (options_.dry_run) return {};
  std::error_code code;
  fs::create_directories(where.parent_path(), code);
  if (!there && ::mkdir(where.c_str(), 0700) != 0) return setup_failed("make the folder", where);
  if (::lchown(where.c_str(), owner.uid, owner.gid) != 0 || ::chmod(where.c_str(), mode) != 0) {
    return setup_failed("give the folder to its owner", where);
  }
  return {};
}

Result<std::optional<std::string>> text_of_file(const fs::path& file) {
  std::error_code code;
  if (!fs::exists(fs::symlink_status(file, code))) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return setup_failed("read the file", file);
  return text.str();
}

// `keeps`: a changed file keeps its content. Its owner and mode are still corrected.
Result<void> Setup::write_file(const fs::path& path, const std::string& text, mode_t mode,
                               gid_t group, bool keeps) {
  const fs::path where = place_.below(path);
  SALLYPORT_TRY(const std::optional<std::string> before, text_of_file(where));
  struct stat status{};
  const bool owned = ::lstat(where.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                     status.st_uid == 0 && status.st_gid == group &&
                     (status.st_mode & 07777) == mode;
  const std::string& wanted = keeps && before ? *before : text;
  if (before == wanted && owned) return {};
  step(fmt::format("write {} with mode {:o}", where.string(), mode));
  if (options_.dry_run) return {};
  return replace_file(where, wanted, FileAccess{.mode = mode, .owner = 0, .group = group});
}

// `unchanged` is the content of an unmodified file; a modified one stays.
Result<void> Setup::remove_file(const fs::path& path, const std::optional<std::string>& unchanged) {
  const fs::path where = place_.below(path);
  SALLYPORT_TRY(const std::optional<std::string> text, text_of_file(where));
  if (!text) return {};
  if (unchanged && !options_.purge && *text != *unchanged) {
    if (!context_.json())
      print_line(fmt::format("{} was changed and stays; --purge removes it", where.string()));
    return {};
  }
  step(fmt::format("remove {}", where.string()));
  if (!options_.dry_run && ::unlink(where.c_str()) != 0)
    return setup_failed("remove the file", where);
  return {};
}

Result<void> Setup::remove_folder(const fs::path& path, bool with_content) {
  const fs::path where = place_.below(path);
  std::error_code code;
  if (!fs::exists(fs::symlink_status(where, code))) return {};
  if (!with_content && !fs::is_empty(where, code)) {
    if (!options_.dry_run && !context_.json())
      print_line(fmt::format("{} holds something and stays", where.string()));
    return {};
  }
  step(fmt::format("remove {}", where.string()));
  if (options_.dry_run) return {};
  fs::remove_all(where, code);
  if (code)
    return fail(ErrorCode::Unavailable, "cannot remove it: " + code.message(), where.string());
  return {};
}

Result<void> Setup::install() {
  SALLYPORT_TRY(const std::string program, this->program());
  SALLYPORT_TRY(const SetupAccount service, make_account(place_.user, place_.data()));
  SALLYPORT_TRY(const SetupAccount tools, make_account(place_.tools_user(), place_.tools_home()));
  const SetupAccount root{};
  SALLYPORT_CHECK_OK(make_folder(place_.etc(), 0755, root));
  SALLYPORT_CHECK_OK(make_folder(place_.data(), 0700, service));
  SALLYPORT_CHECK_OK(make_folder(place_.tools_home(), 0700, tools));
  SALLYPORT_CHECK_OK(write_file(place_.policy(), policy_text(), 0640, service.gid, true));
  SALLYPORT_CHECK_OK(write_file(place_.reviewers(), reviewers_text(), 0640, service.gid, true));
  SALLYPORT_CHECK_OK(write_file(place_.config(), config_text(place_), 0640, service.gid, true));
  SALLYPORT_CHECK_OK(write_file(place_.unit(), unit_text(place_, program), 0644, 0, false));
  const SystemSetup setup{.service_user = place_.user,
                          .service_uid = service.uid,
                          .socket_dir = place_.sockets(),
                          .data_dir = place_.data(),
                          .config = place_.config()};
  // From here on hooks of all users ask the service, and are refused until it runs.
  SALLYPORT_CHECK_OK(write_file(place_.system_file(), to_text(setup), 0644, 0, false));
  if (options_.root) return {};
  if (!has_systemd()) {
    SALLYPORT_CHECK_OK(make_folder(place_.sockets(), 0755, service));
    advise(start_command(place_, program));
    return {};
  }
  return start();
}

// Again where something has changed: the program of the unit may be another one.
Result<void> Setup::start() {
  const bool runs = run({"systemctl", "is-active", "--quiet", kUnit}).has_value();
  if (runs && steps_.empty()) return {};
  step(fmt::format("{} the service", runs ? "restart" : "start"));
  if (options_.dry_run) return {};
  SALLYPORT_CHECK_OK(run({"systemctl", "daemon-reload"}));
  SALLYPORT_CHECK_OK(run({"systemctl", "enable", kUnit}));
  return run({"systemctl", "restart", kUnit});
}

Result<void> Setup::remove() {
  std::error_code code;
  if (!options_.root && context_.system && *context_.system) {
    place_.user = (*context_.system)->service_user;
  }
  if (has_systemd() && fs::exists(place_.unit(), code)) {
    step("stop the service");
    if (!options_.dry_run) SALLYPORT_CHECK_OK(run({"systemctl", "disable", "--now", kUnit}));
  } else if (!options_.root && fs::exists(place_.sockets() / "hook.sock", code)) {
    advise("end the service that still runs");
  }
  SALLYPORT_CHECK_OK(remove_file(place_.system_file(), std::nullopt));
  SALLYPORT_CHECK_OK(remove_file(place_.unit(), std::nullopt));
  SALLYPORT_CHECK_OK(remove_file(place_.config(), config_text(place_)));
  SALLYPORT_CHECK_OK(remove_file(place_.policy(), policy_text()));
  SALLYPORT_CHECK_OK(remove_file(place_.reviewers(), reviewers_text()));
  SALLYPORT_CHECK_OK(remove_folder(place_.etc(), options_.purge));
  SALLYPORT_CHECK_OK(remove_folder(place_.sockets(), true));
  SALLYPORT_CHECK_OK(remove_folder(place_.tools_home(), options_.purge));
  SALLYPORT_CHECK_OK(remove_folder(place_.data(), options_.purge));
  // A number that still owns files must not go to another account.
  if (options_.dry_run || !fs::exists(place_.below(place_.tools_home()), code)) {
    SALLYPORT_CHECK_OK(remove_account(place_.tools_user()));
  }
  if (options_.purge || !fs::exists(place_.below(place_.data()), code)) {
    SALLYPORT_CHECK_OK(remove_account(place_.user));
  } else if (!context_.json()) {
    print_line(fmt::format("the ledger stays in {}, with its owner {}; --purge removes both",
                           place_.below(place_.data()).string(), place_.user));
  }
  if (has_systemd() && !options_.dry_run) return run({"systemctl", "daemon-reload"});
  return {};
}

Result<void> Setup::finish() const {
  if (context_.json()) {
    print_line(json::serialize(json::object{
        {"changed", !options_.dry_run && !steps_.empty()}, {"steps", steps_}, {"then", advice_}}));
  } else if (steps_.empty()) {
    print_line("nothing to do");
  }
  return finish_output();
}

Result<void> check_setup_options(const SetupOptions& options) {
  if (options.purge && (!options.system || !options.undo)) {
    return fail(ErrorCode::InvalidInput, "--purge needs --system --undo");
  }
  if (options.undo && !options.system) {
    return fail(ErrorCode::InvalidInput, "--undo needs --system");
  }
  if (!options.system) {
    return fail(ErrorCode::InvalidInput, "name what to set up: `sallyport setup --system`");
  }
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  const std::string& user = options.user;
  const bool plain = !user.empty() && user.size() <= 24 && user[0] >= 'a' && user[0] <= 'z' &&
                     user.find_first_not_of(kAllowed) == std::string::npos;
  if (!plain) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` cannot be the name of an account; write lower-case letters, "
                            "digits, `-` and `_`",
                            user));
  }
  if (::geteuid() != 0 && !options.dry_run) {
    return fail(ErrorCode::Unauthenticated,
                "the system set-up needs root; run it with sudo, or look with --dry-run");
  }
  return {};
}

}  // namespace

Result<int> setup(const Context& context, const SetupOptions& options) {
  SALLYPORT_CHECK_OK(check_setup_options(options));
  Setup run(context, options);
  SALLYPORT_CHECK_OK(options.undo ? run.remove() : run.install());
  SALLYPORT_CHECK_OK(run.finish());
  return 0;
}

}  // namespace sallyport::app
