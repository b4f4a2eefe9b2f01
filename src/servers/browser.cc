#include "servers/browser.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

namespace sallyport::app {

namespace {

std::string_view environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// `$BROWSER` is a command with an optional `%s`, or several of them with `:` between.
std::vector<std::string> command_for(const std::string& url) {
  std::vector<std::string> words;
  const std::string_view wanted = environment_variable("BROWSER");
  std::istringstream in(std::string(wanted.substr(0, wanted.find(':'))));
  bool placed = false;
  for (std::string word; in >> word;) {
    placed = placed || word == "%s";
    words.push_back(word == "%s" ? url : word);
  }
  const bool desktop =
      !environment_variable("DISPLAY").empty() || !environment_variable("WAYLAND_DISPLAY").empty();
  if (words.empty() && desktop) words = {"xdg-open"};
  if (!words.empty() && !placed) words.push_back(url);
  return words;
}

// Between fork and exec: only calls that a signal handler could make.
[[noreturn]] void become(char* const* arguments) {
  setsid();
  if (fork() != 0) _exit(0);  // no process has to wait for the browser
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) dup2(nothing, stream);
  close_range(3, ~0U, 0);  // a client that waits for the end of our streams does not wait for it
  execvp(arguments[0], arguments);
  _exit(127);
}

}  // namespace

void open_in_browser(const std::string& url) {
  std::vector<std::string> words = command_for(url);
  if (words.empty()) return;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) become(arguments.data());
  if (pid > 0) waitpid(pid, nullptr, 0);
}

}  // namespace sallyport::app
