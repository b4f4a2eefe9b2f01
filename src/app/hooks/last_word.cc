#include "app/hooks/last_word.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <utility>

namespace sallyport::app {

namespace {

constexpr std::array kEndings{SIGTERM, SIGINT, SIGHUP, SIGQUIT};
constexpr std::array kCrashes{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// A signal handler can only use globals. Written with all signals of ours blocked.
LastWord::Answers kept_answers;  // owns what the next two point at
struct Prepared {
  const char* volatile text = nullptr;
  volatile std::size_t size = 0;
};
Prepared late_answer;
Prepared broken_answer;

void set_timer(std::chrono::milliseconds time) {
  itimerval timer{};
  timer.it_value.tv_sec = time.count() / 1000;
  timer.it_value.tv_usec = (time.count() % 1000) * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// Only what is allowed in a signal handler.
extern "C" void answer_and_end(int why) {
  const Prepared& answer = why == SIGALRM ? late_answer : broken_answer;
  const char* from = answer.text;
  if (from == nullptr) _exit(kDeniedWithoutAnswer);
  std::size_t left = answer.size;
  while (left > 0) {
    const ssize_t written = write(STDOUT_FILENO, from, left);
    if (written <= 0) _exit(kDeniedWithoutAnswer);
    from += written;
    left -= static_cast<std::size_t>(written);
  }
  _exit(0);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(number, &action, nullptr);
}

}  // namespace

LastWord::LastWord(std::chrono::milliseconds time) {
  signal(SIGPIPE, SIG_IGN);
  handle(SIGALRM, answer_and_end);
  for (const int number : kEndings) handle(number, answer_and_end);
  for (const int number : kCrashes) handle(number, answer_and_end);
  set_timer(time);
}

LastWord::~LastWord() {
  leave_to_us();
}

void LastWord::prepare(Answers answers) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  kept_answers = std::move(answers);
  late_answer.text = kept_answers.late.data();
  late_answer.size = kept_answers.late.size();
  broken_answer.text = kept_answers.broken.data();
  broken_answer.size = kept_answers.broken.size();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LastWord::leave_to_us() {
  set_timer(std::chrono::milliseconds(0));
  for (const int number : kEndings) signal(number, SIG_IGN);
  for (const int number : kCrashes) signal(number, SIG_DFL);
}

}  // namespace sallyport::app
