// Must hold against a hostile agent: no tool reads or changes anything outside the roots, with any
// input.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <iostream>
#include <thread>

#include "agent/tool/command_sandbox.h"
#include "agent/tool/file_change.h"
#include "unit/agent/escape_attempts.h"
#include "unit/agent/tool_bench.h"

namespace sallyport::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "the-secret-7f3a";

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

class EscapeTest : public ToolBench {
 protected:
  fs::path outside() const { return folder_ / "outside"; }

  void bind_unix(int type, const fs::path& path) {
    sockets_.emplace_back(socket(AF_UNIX, type, 0));
    sockaddr_un address{.sun_family = AF_UNIX};
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(sockets_.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
              0);
    if (type == SOCK_STREAM) ASSERT_EQ(listen(sockets_.back().get(), 128), 0);
  }

  void listen_tcp() {
    sockets_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    ASSERT_EQ(bind(sockets_.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
              0);
    ASSERT_EQ(listen(sockets_.back().get(), 128), 0);
    socklen_t size = sizeof address;
    getsockname(sockets_.back().get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }

  // The state before an attempt.
  void lay_out() {
    sockets_.clear();
    for (const auto& entry : fs::directory_iterator(root())) fs::remove_all(entry.path());
    fs::remove_all(outside());
    fs::remove_all(data());
    fs::remove_all(data().string() + "2");
    write(outside() / "secret", kSecret);
    write(data() / "ledger.db", kSecret);
    write(folder_ / "root2/secret", kSecret);
    fs::create_directory(outside() / "empty");
    write(outside() / "program", "#!/bin/sh\necho ESCAPED\n");
    chmod((outside() / "program").c_str(), 0755);
    bind_unix(SOCK_STREAM, outside() / "socket");
    bind_unix(SOCK_DGRAM, outside() / "datagrams");
    listen_tcp();
  }

  std::string filled(const char* text) const {
    std::string all = replaced(text, "{OUT}", outside().string());
    all = replaced(all, "{DATA}", data().string());
    all = replaced(all, "{ROOT}", root().string());
    return replaced(all, "{PORT}", std::to_string(port_));
  }

  // Returns names, kinds, modes and contents of the files that no tool may change.
  std::string state() const {
    std::ostringstream text;
    for (const fs::path& folder : {outside(), data(), folder_ / "root2"}) {
      std::map<std::string, std::string> found;
      std::error_code gone;
      for (fs::recursive_directory_iterator at(folder, gone), end; !gone && at != end; ++at) {
        struct stat seen{};
        lstat(at->path().c_str(), &seen);
        found[at->path().string()] = std::to_string(seen.st_mode) + " " +
                                     std::to_string(seen.st_nlink) + " " +
                                     (S_ISREG(seen.st_mode) ? read(at->path()) : "");
      }
      text << folder << (gone ? " gone" : "") << "\n";
      for (const auto& [name, what] : found) text << name << " " << what << "\n";
    }
    return text.str();
  }

  std::vector<Descriptor> sockets_;
  unsigned port_ = 0;
};

class FileEscapeTest : public EscapeTest {
 protected:
  void lay_out_links() {
    lay_out();
    write(root() / "sub/f", "f");
    write(root() / "file", "f");
    fs::create_symlink(outside(), root() / "link");
    fs::create_symlink(outside() / "secret", root() / "file-link");
    fs::create_symlink("../outside", root() / "relative-link");
    fs::create_symlink("link", root() / "chain");
    fs::create_symlink("../..", root() / "sub/up");
    fs::create_symlink(data(), root() / "data-link");
    fs::create_symlink("/proc", root() / "proc-link");
    fs::create_symlink("/dev/zero", root() / "device-link");
    fs::create_symlink("loop", root() / "loop");
    fs::create_symlink(outside() / "new", root() / "dangling");
    ASSERT_EQ(mkfifo((root() / "pipe").c_str(), 0600), 0);
    bind_unix(SOCK_STREAM, root() / "socket");
  }
  // Prepares and, if that is permitted, executes.
  std::string change(std::string_view tool, const json::object& input) {
    auto preparation = tools().find(tool)->preparing()->prepare(call(tool, input), {});
    const auto step = **on_loop<Result<std::optional<core::PrepareStep>>>(preparation->next());
    if (step.kind != core::PrepareStep::Kind::Ready) return "refused";
    const auto done = invoke(call(tool, effective_input(input, step.prepared).as_object()));
    return done && done->kind == Envelope::Kind::Value ? "written" : "refused";
  }
};

// RT-29, RT-30, RT-33
TEST_F(FileEscapeTest, NoPathLeadsAFileToolOutside) {
  lay_out_links();
  const std::string before = state();
  for (const PathAttempt& attempt : kPathAttempts) {
    SCOPED_TRACE(attempt.what);
    const std::string path = filled(attempt.path);
    for (const json::object& input :
         {json::object{{"path", path}}, json::object{{"path", path}, {"pattern", "."}}}) {
      for (const char* tool : {"read_file", "list_files", "search_files"}) {
        const bool searches = std::string_view(tool) == "search_files";
        if (searches != input.contains("pattern")) continue;
        const ToolResult result = use(tool, input);
        EXPECT_FALSE(result.success) << tool << ": " << result.output;
        EXPECT_THAT(result.output, Not(HasSubstr(kSecret)));
      }
    }
    EXPECT_EQ(change("edit_file", {{"path", path}, {"old", "the"}, {"new", "a"}}), "refused");
    // A name without a way out is an ordinary name, and makes a file below the root.
    const std::string wrote = change("write_file", {{"path", path}, {"content", "x"}});
    if (wrote == "written")
      EXPECT_TRUE(path.find('%') == 0 || path.find('\\') != std::string::npos ||
                  path.starts_with('~'));
    EXPECT_EQ(state(), before);
  }
}

// RT-30, RT-38: a folder and a link to a folder outside replace each other all the time.
TEST_F(FileEscapeTest, AWriterLosesNoRaceAgainstASwappedLink) {
  lay_out();
  write(root() / "d/secret", "inside");
  fs::create_symlink(outside(), root() / "l");
  const std::string before = state();
  std::atomic<bool> stop{false};
  std::thread swapper([&] {
    while (!stop) {
      (void)renameat2(AT_FDCWD, (root() / "d").c_str(), AT_FDCWD, (root() / "l").c_str(),
                      RENAME_EXCHANGE);
    }
  });
  int written = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string text = "text " + std::to_string(i);
    if (change("write_file", {{"path", "d/secret"}, {"content", text}}) == "written") ++written;
    (void)change("write_file", {{"path", "d/new"}, {"content", text}});
    const ToolResult seen = use("search_files", {{"pattern", "secret"}, {"path", "d"}});
    EXPECT_THAT(seen.output, Not(HasSubstr(kSecret)));
  }
  stop = true;
  swapper.join();
  EXPECT_EQ(state(), before);
  std::cout << written << " of 200 writes met the folder\n";
}

class CommandEscapeTest : public EscapeTest {
 protected:
  CommandEscapeTest() {
    settings_.shell = ShellSettings{.sandbox = Sandbox::Required, .network = false};
  }

  // Returns false with a loud message if this machine has no sandbox. That error is checked.
  bool kernel_can() {
    const KernelBounds here = KernelBounds::of_this_machine();
    if (here.landlock > 0 && here.seccomp) return true;
    std::cerr << "\n*** THIS KERNEL HAS " << (here.landlock > 0 ? "" : "NO LANDLOCK ")
              << (here.seccomp ? "" : "NO SECCOMP") << ": NO COMMAND WAS CONTAINED HERE ***\n\n";
    const auto opened = open();
    EXPECT_FALSE(opened);
    if (!opened) EXPECT_THAT(opened.error().message, HasSubstr("agent.shell.sandbox"));
    return false;
  }

  struct Tried {
    ToolResult result{};
    bool escaped = false;
  };
  Tried attempt(const CommandAttempt& attempt) {
    lay_out();
    const std::string before = state();
    Tried tried{.result = use("shell", {{"command", filled(attempt.command)}, {"timeout_s", 20}})};
    tried.escaped = tried.result.output.find("ESCAPED") != std::string::npos ||
                    tried.result.output.find(kSecret) != std::string::npos || state() != before;
    return tried;
  }
};

// RT-40, RT-41
TEST_F(CommandEscapeTest, NoCommandLeavesTheSandbox) {
  if (!kernel_can()) GTEST_SKIP() << "no Landlock or no seccomp";
  const int landlock = KernelBounds::of_this_machine().landlock;
  for (const CommandAttempt& tried : kCommandAttempts) {
    // Signals are bound since version 6.
    if (landlock < 6 && std::string_view(tried.what) == "a signal to the runtime") continue;
    const Tried done = attempt(tried);
    EXPECT_FALSE(done.escaped) << tried.what << "\n" << done.result.output;
    EXPECT_FALSE(done.result.data.at("timed_out").as_bool()) << tried.what;
    EXPECT_EQ(done.result.data.at("sandbox").as_string(), "landlock+seccomp");
  }
}

// The attempts are real: without a sandbox they succeed.
TEST_F(CommandEscapeTest, WithoutASandboxTheSameCommandsEscape) {
  settings_.shell = ShellSettings{.sandbox = Sandbox::Off};
  for (const CommandAttempt& tried : kCommandAttempts) {
    if (!tried.works_outside) continue;
    const Tried done = attempt(tried);
    EXPECT_TRUE(done.escaped) << tried.what << "\n" << done.result.output;
    EXPECT_THAT(std::string(done.result.data.at("sandbox").as_string()), HasSubstr("none"));
  }
}

// Everything that programs need is available: the sandbox gives no reason to turn it off.
TEST_F(CommandEscapeTest, OrdinaryWorkGoesOnInside) {
  if (!kernel_can()) GTEST_SKIP() << "no Landlock or no seccomp";
  for (const char* command :
       {"echo x > f && cat f && rm f", "mkdir -p a/b && mv a c && rm -r c",
        "ln -s f l && rm l; mkfifo p && rm p", "seq 1000 | sort -n | tail -n 1 > /dev/null",
        "python3 -c 'import json,subprocess,threading; subprocess.run([\"true\"],check=True)'",
        "id && date && uname && ls /usr/bin > /dev/null && cat /proc/self/status > /dev/null",
        "bash -c 'cat <(echo x)'", "timeout 5 true", "cp /bin/true t && ./t",
        "chmod +x /dev/null 2>/dev/null; touch x && chmod 600 x && test -w x",
        "head -c 10 /dev/urandom | wc -c", "tar cf t.tar . 2>/dev/null; tar tf t.tar > /dev/null",
        "git init -q g && cd g && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "
        "x"}) {
    if (std::string_view(command).starts_with("git") && !fs::exists("/usr/bin/git")) continue;
    const ToolResult result = use("shell", {{"command", command}});
    EXPECT_TRUE(result.success) << command << "\n" << result.output;
  }
}

// A child process that a command leaves behind dies with it: it cannot leave the group.
TEST_F(CommandEscapeTest, NothingOutlivesACommand) {
  if (!kernel_can()) GTEST_SKIP() << "no Landlock or no seccomp";
  for (const char* command :
       {"sleep 300 > /dev/null 2>&1 & echo $! > pid",
        "(sleep 300 > /dev/null 2>&1 & echo $! > pid) &\nwait",
        "nohup sleep 300 > /dev/null 2>&1 & echo $! > pid",
        "bash -c 'set -m; sleep 300 > /dev/null 2>&1 & echo $! > pid; disown -a'",
        "python3 -c \"import os,time\nif os.fork()==0:\n for f in (os.setsid,os.setpgrp):\n"
        "  try: f()\n  except OSError: pass\n open('pid','w').write(str(os.getpid())+chr(10))\n"
        " time.sleep(300)\nwhile not os.path.exists('pid'): time.sleep(0.01)\""}) {
    SCOPED_TRACE(command);
    fs::remove(root() / "pid");
    (void)use("shell", {{"command", command}});
    ASSERT_TRUE(eventually([&] { return read(root() / "pid").ends_with('\n'); }));
    const pid_t left = std::stoi(read(root() / "pid"));
    EXPECT_TRUE(eventually([&] { return !is_running(left); }));
  }
}

// Even if commands may use the network, they have no access to sockets of this machine.
TEST_F(CommandEscapeTest, WithTheNetworkOpenOnlyInternetSocketsAreMade) {
  if (!kernel_can()) GTEST_SKIP() << "no Landlock or no seccomp";
  settings_.shell->network = true;
  for (const CommandAttempt& tried : kCommandAttempts) {
    const std::string_view what = tried.what;
    if (what == "a TCP connection") EXPECT_TRUE(attempt(tried).escaped);
    if (what.starts_with("a socket of this") || what.starts_with("a pair that") ||
        what == "raw packets") {
      EXPECT_FALSE(attempt(tried).escaped) << what;
    }
  }
}

// Commands can read a root without `write` but not write to it.
TEST_F(CommandEscapeTest, ARootWithoutWriteIsNotWritten) {
  if (!kernel_can()) GTEST_SKIP() << "no Landlock or no seccomp";
  write(folder_ / "readonly/f", "readable");
  settings_.roots.push_back({.path = folder_ / "readonly"});
  const std::string there = (folder_ / "readonly").string();
  EXPECT_THAT(use("shell", {{"command", "cat " + there + "/f"}}).output, HasSubstr("readable"));
  for (const std::string command : {"echo x > /f", "rm /f", "mv /f g", "mkdir /d"}) {
    (void)use("shell", {{"command", replaced(command, "/", there + "/")}});
  }
  EXPECT_EQ(read(folder_ / "readonly/f"), "readable");
  EXPECT_EQ(std::distance(fs::directory_iterator(there), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace sallyport::agent
