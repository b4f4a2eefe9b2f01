#include <csignal>
#include <cstdio>
#include <exception>

#include "app/run.h"

int main(int argc, char** argv) {
  // A file that may not grow (`ulimit -f`) is a disk that refuses, and no reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return sallyport::app::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "sallyport: unexpected: %s; please report this\n", fault.what());
  } catch (...) {
    std::fputs("sallyport: unexpected fault; please report this\n", stderr);
  }
  return sallyport::app::kInternal;
}
