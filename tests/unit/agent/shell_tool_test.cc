#include <signal.h>
#include <sys/wait.h>

#include <thread>

#include "agent/tool/command_sandbox.h"
#include "unit/agent/tool_bench.h"

namespace sallyport::agent {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class ShellToolTest : public ToolBench {
 protected:
  ShellToolTest() { settings_.shell = ShellSettings{}; }

  ToolResult run(const std::string& command, json::object more = {}) {
    more["command"] = command;
    return use("shell", std::move(more));
  }
};

// RT-44
TEST_F(ShellToolTest, OutputErrorsAndExitCodeAreReported) {
  const ToolResult good = run("echo out; echo err >&2");
  EXPECT_TRUE(good.success) << good.output;
  EXPECT_EQ(good.output, "out\n[standard error]\nerr\n[exit code 0]");
  const ToolResult bad = run("exit 3");
  EXPECT_FALSE(bad.success);
  EXPECT_EQ(bad.data.at("exit_code").as_int64(), 3);
  EXPECT_TRUE(bad.data.at("signal").is_null());
  EXPECT_FALSE(bad.data.at("timed_out").as_bool());
  const ToolResult killed = run("kill -KILL $$");
  EXPECT_FALSE(killed.success);
  EXPECT_TRUE(killed.data.at("exit_code").is_null());
  EXPECT_EQ(killed.data.at("signal").as_int64(), SIGKILL);
}

// RT-40
TEST_F(ShellToolTest, ItRunsInAGroupOfItsOwnWithNothingToReadAndNothingInherited) {
  settings_.shell->sandbox = Sandbox::Off;
  const int ours = ::open("/dev/null", O_RDONLY);  // would be inherited
  EXPECT_EQ(run("wc -c").output, "0\n[exit code 0]");
  const ToolResult open = run("ls -l /proc/self/fd | awk '{print $9, $11}' | sort");
  EXPECT_THAT(open.output, HasSubstr("0 /dev/null"));
  // The fourth is the folder that `ls` lists.
  EXPECT_EQ(run("ls /proc/self/fd").output, "0\n1\n2\n3\n[exit code 0]");
  EXPECT_EQ(run("test $(ps -o pgid= -p $$) -eq $$").data.at("exit_code").as_int64(), 0);
  // In a session of its own it has no terminal, so it cannot type a person's answer (TIOCSTI).
  EXPECT_EQ(run("test $(ps -o sid= -p $$) -eq $$").data.at("exit_code").as_int64(), 0);
  EXPECT_NE(run(": </dev/tty").data.at("exit_code").as_int64(), 0);
  ::close(ours);
}

// RT-40, RT-32
TEST_F(ShellToolTest, ItsFolderIsInsideARoot) {
  write(root() / "sub/f", "x");
  std::filesystem::create_symlink(folder_.path(), root() / "up");
  EXPECT_EQ(run("pwd").output, std::filesystem::canonical(root()).string() + "\n[exit code 0]");
  EXPECT_EQ(run("ls", {{"cwd", "sub"}}).output, "f\n[exit code 0]");
  for (const char* outside : {"..", "/", "up", "sub/../.."}) {
    EXPECT_FALSE(run("touch here", {{"cwd", outside}}).success) << outside;
  }
  EXPECT_THAT(denials(), ElementsAre("shell: ..", "shell: /", "shell: up", "shell: sub/../.."));
  EXPECT_THAT(run("ls", {{"cwd", "sub/f"}}).output, HasSubstr("not a directory"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "here"));
}

// RT-41, RT-16 (partly)
TEST_F(ShellToolTest, ItGetsOnlyTheVariablesOfTheList) {
  setenv("SALLYPORT_TEST_SECRET", "hidden", 1);
  variables_["LANG"] = "C.UTF-8";
  variables_["OTHER"] = "no";
  settings_.shell->env = {"PATH", "LANG", "ABSENT"};
  const ToolResult seen = run("env | grep -v -e '^PWD=' -e '^_=' -e '^OLDPWD=' -e SHLVL | sort");
  EXPECT_EQ(seen.output, "LANG=C.UTF-8\nPATH=" + variables_["PATH"] + "\n[exit code 0]");
  unsetenv("SALLYPORT_TEST_SECRET");
}

// RT-42
TEST_F(ShellToolTest, AfterItsTimeTheGroupIsAskedToEndAndThenKilled) {
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult asked = run("sleep 100", {{"timeout_s", 1}});
  EXPECT_FALSE(asked.success);
  EXPECT_THAT(asked.output, EndsWith("[timed out after 1 s]"));
  EXPECT_TRUE(asked.data.at("timed_out").as_bool());
  EXPECT_EQ(asked.data.at("signal").as_int64(), SIGTERM);
  const ToolResult killed = run("trap '' TERM; while :; do sleep 1; done", {{"timeout_s", 1}});
  EXPECT_EQ(killed.data.at("signal").as_int64(), SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

// RT-42
TEST_F(ShellToolTest, TheTimeIsAtMostThatOfTheConfiguration) {
  settings_.shell->max_timeout = 1s;
  EXPECT_THAT(run("sleep 100", {{"timeout_s", 5000}}).output, EndsWith("[timed out after 1 s]"));
  EXPECT_THAT(run("sleep 100").output, EndsWith("[timed out after 1 s]"));
  EXPECT_THAT(run("true", {{"timeout_s", 0}}).output, HasSubstr("`timeout_s` is 0"));
}

// RT-43, RT-28
TEST_F(ShellToolTest, TheFirst64KiBOfEachStreamAreKeptAndTheRestIsCounted) {
  const ToolResult much =
      run("head -c 1000000 /dev/zero | tr '\\0' 'x'; head -c 70000 /dev/zero | tr '\\0' 'y' >&2");
  EXPECT_TRUE(much.success);
  EXPECT_EQ(much.data.at("stdout_dropped").to_number<std::uint64_t>(), 1'000'000u - 65'536u);
  EXPECT_EQ(much.data.at("stderr_dropped").to_number<std::uint64_t>(), 70'000u - 65'536u);
  EXPECT_LE(much.output.size(), kMostBytes);
  EXPECT_THAT(much.output, HasSubstr("934464 more bytes were dropped"));
  EXPECT_THAT(much.output, EndsWith("[exit code 0]"));
  const ToolResult lines = run("seq 100000; seq 100000 >&2");
  EXPECT_LE(std::ranges::count(lines.output, '\n'), 2000);
}

// RT-45
TEST_F(ShellToolTest, ItReturnsWhenItsOwnProcessEndsAndWhatItLeftInItsGroupDies) {
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult left = run("sleep 300 & echo $!");
  EXPECT_TRUE(left.success) << left.output;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  const pid_t child = std::stoi(left.output);
  EXPECT_TRUE(eventually([&] { return !is_running(child); }));
}

// RT-45: a child process that left the group does not delay us either.
TEST_F(ShellToolTest, ADescendantThatHoldsTheOutputIsNotWaitedFor) {
  settings_.shell->sandbox = Sandbox::Off;
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult left = run("setsid sleep 20 & echo done");
  EXPECT_EQ(left.output, "done\n[exit code 0]");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

// RT-74 (partly)
TEST_F(ShellToolTest, ACancelEndsIt) {
  std::stop_source stop;
  std::thread canceller([&] {
    (void)eventually([&] { return std::filesystem::exists(root() / "runs"); });
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult result = use("shell", {{"command", "touch runs; sleep 100"}}, stop.get_token());
  canceller.join();
  EXPECT_FALSE(result.success);
  EXPECT_THAT(result.output, EndsWith("[cancelled]"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(ShellToolTest, BytesThatAreNoTextAreShownAsSuch) {
  EXPECT_EQ(run("printf 'a\\377b'").output,
            "a\xef\xbf\xbd"
            "b\n[exit code 0]");
}

TEST_F(ShellToolTest, ACommandThatNoProgramCanGetIsAnError) {
  EXPECT_THAT(run(" ").output, HasSubstr("`command` is empty"));
  EXPECT_THAT(run(std::string("a\0b", 3)).output, HasSubstr("NUL"));
  EXPECT_THAT(run(std::string(200'000, 'a')).output, HasSubstr("longer than"));
}

// RT-26 (partly)
TEST_F(ShellToolTest, WithoutAShellInTheConfigurationThereIsNone) {
  settings_.shell.reset();
  EXPECT_EQ(tools().find("shell"), nullptr);
}

// RT-53
TEST_F(ShellToolTest, ADirectChildDiesWithTheRuntimeThatIsKilled) {
  const auto file = root() / "pid";
  const pid_t runtime = fork();
  if (runtime == 0) {
    const std::string command = "echo $$ > pid; exec sleep 300";
    const std::string folder = root().string();
    const Descriptor handle(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const std::vector<std::string> arguments{"/bin/sh", "-c", command};
    const net::Confinement confinement{.environment = {"PATH=/usr/bin:/bin"}};
    const int null = ::open("/dev/null", O_WRONLY);
    (void)net::spawn({.arguments = arguments,
                      .folder = folder,
                      .output = null,
                      .errors = null,
                      .confinement = &confinement});
    pause();
    _exit(0);
  }
  ASSERT_TRUE(eventually([&] { return read(file).ends_with('\n'); }));
  const pid_t child = std::stoi(read(file));
  EXPECT_TRUE(is_running(child));
  kill(runtime, SIGKILL);
  waitpid(runtime, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !is_running(child); }));
}

class CommandSandboxTest : public ToolBench {
 protected:
  Result<std::unique_ptr<const CommandSandbox>> make(Sandbox sandbox, KernelBounds kernel) {
    const auto roots = *Roots::open(settings_.roots, data());
    return CommandSandbox::make({.sandbox = sandbox}, *roots, kernel);
  }
};

TEST_F(CommandSandboxTest, ARequiredSandboxThatTheKernelLacksIsAnErrorThatNamesTheKey) {
  for (const KernelBounds kernel :
       {KernelBounds{0, true}, KernelBounds{7, false}, KernelBounds{}}) {
    const auto made = make(Sandbox::Required, kernel);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("agent.shell.sandbox"));
  }
  EXPECT_EQ((*make(Sandbox::Auto, {}))->text(),
            "none: this kernel has no Landlock, this kernel has no seccomp");
  EXPECT_EQ((*make(Sandbox::Auto, {}))->cage(), nullptr);
  EXPECT_EQ((*make(Sandbox::Auto, {0, true}))->text(), "seccomp: this kernel has no Landlock");
  EXPECT_THAT((*make(Sandbox::Off, {7, true}))->text(), StartsWith("none: "));
}

TEST_F(CommandSandboxTest, ARootThatHoldsTheDataFolderIsRefused) {
  settings_.roots = {{.path = folder_.path(), .write = true}};
  for (const Sandbox sandbox : {Sandbox::Auto, Sandbox::Required}) {
    const auto made = make(sandbox, KernelBounds::of_this_machine());
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("agent.roots[0].path"));
  }
  EXPECT_TRUE(make(Sandbox::Off, {}));
}

TEST_F(CommandSandboxTest, OlderVersionsOfLandlockAreUsedToo) {
  const KernelBounds here = KernelBounds::of_this_machine();
  if (here.landlock == 0) GTEST_SKIP() << "THIS KERNEL HAS NO LANDLOCK";
  settings_.shell = ShellSettings{};
  for (int version = 1; version <= here.landlock; ++version) {
    const auto made = make(Sandbox::Required, {version, here.seccomp});
    EXPECT_TRUE(made) << version << ": " << made.error().message;
  }
}

TEST_F(CommandSandboxTest, TheRecordSaysWhichSandboxHeld) {
  settings_.shell = ShellSettings{};
  const KernelBounds here = KernelBounds::of_this_machine();
  if (here.landlock == 0 || !here.seccomp) GTEST_SKIP() << "THIS KERNEL HAS NO LANDLOCK OR SECCOMP";
  EXPECT_EQ(use("shell", {{"command", "true"}}).data.at("sandbox").as_string(), "landlock+seccomp");
}

}  // namespace
}  // namespace sallyport::agent
