#include "cli/demo/demo_person.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

constexpr int kPatience = 10'000;  // milliseconds

}  // namespace

Task<Reply> DemoPerson::answer(Question question) const {
  // One of the two deletions is always refused, so that this too is seen.
  if (question.description.find("notes.txt") != std::string::npos) {
    co_return Reply::deny("user:demo", "not while I am watching");
  }
  if (who_ == Who::User) co_return ask_user(question);
  print_(fmt::format("   a person is asked: {}", question.description));
  print_("     answered yes by the script");
  co_return Reply::approve("user:demo-script");
}

Reply DemoPerson::ask_user(const Question& question) const {
  print_(fmt::format("   you are asked: {}", visible(question.description)));
  print_("     y or n, and Enter; ten seconds of silence are a no");
  pollfd keyboard{STDIN_FILENO, POLLIN, 0};
  char line[64] = {};
  if (poll(&keyboard, 1, kPatience) <= 0) return Reply::deny("user:demo", "nobody answered");
  const ssize_t size = ::read(STDIN_FILENO, line, sizeof line - 1);
  const bool yes = size > 0 && (line[0] == 'y' || line[0] == 'Y');
  return yes ? Reply::approve("user:demo") : Reply::deny("user:demo", "you said no");
}

}  // namespace sallyport::app
