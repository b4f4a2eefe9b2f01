#include "app/time_budget.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <utility>

namespace sallyport::app {

namespace {

// A signal handler can be told nothing else.
std::string kept_answer;                // owns what `late_answer` points at
const char* volatile late_answer = "";  // written and read with the signal blocked, or by it
volatile std::size_t late_size = 0;

void set_timer(std::chrono::milliseconds time) {
  itimerval timer{};
  timer.it_value.tv_sec = time.count() / 1000;
  timer.it_value.tv_usec = (time.count() % 1000) * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// Only what is allowed in a signal handler.
extern "C" void answer_and_end(int) {
  const char* from = late_answer;
  std::size_t left = late_size;
  while (left > 0) {
    const ssize_t written = write(STDOUT_FILENO, from, left);
    if (written <= 0) break;
    from += written;
    left -= static_cast<std::size_t>(written);
  }
  _exit(0);
}

}  // namespace

TimeBudget::TimeBudget(std::chrono::milliseconds budget) {
  struct sigaction action{};
  action.sa_handler = answer_and_end;
  sigaction(SIGALRM, &action, nullptr);
  set_timer(budget);
}

TimeBudget::~TimeBudget() {
  disarm();
}

void TimeBudget::answer_with(std::string answer) {
  sigset_t alarm;
  sigset_t before;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, &before);
  kept_answer = std::move(answer);
  late_answer = kept_answer.data();
  late_size = kept_answer.size();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void TimeBudget::disarm() {
  set_timer(std::chrono::milliseconds(0));
}

}  // namespace sallyport::app
