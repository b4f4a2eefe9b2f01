#include <fcntl.h>
#include <mimalloc.h>
#include <unistd.h>

#include <boost/system/system_error.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "cli/run.h"
#include "terminal/exit_code.h"

// Not there in builds with an allocator of their own.
extern "C" [[gnu::weak]] void mi_register_error(mi_error_fun* handler, void* with);
extern "C" [[gnu::weak]] void mi_option_set(mi_option_t option, long value);

#if MI_MALLOC_VERSION >= 210
constexpr mi_option_t kDelay = mi_option_purge_delay;
#else
constexpr mi_option_t kDelay = mi_option_decommit_delay;
#endif

namespace {

// Puts an unusable descriptor in the place of a standard stream that the caller closed. Otherwise
// the next opened file gets its number, and our output.
void keep_closed_streams_closed() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) (void)open("/", O_PATH | O_DIRECTORY);
  }
}

// mimalloc ends a process that it has no memory for, and says nothing.
extern "C" void report_allocator_error(int code, void*) {
  if (code == EFAULT) std::abort();  // the default of mimalloc
  static std::atomic_flag reported;
  if (code != ENOMEM || reported.test_and_set()) return;
  constexpr char kLine[] = "sallyport: there is no memory left; allow this process more of it\n";
  (void)!write(STDERR_FILENO, kLine, sizeof kLine - 1);
}

void set_up_allocator() {
  if (mi_register_error != nullptr) mi_register_error(report_allocator_error, nullptr);
  // Memory that one burst of requests frees is there for the next one.
  constexpr long kMilliseconds = 1000;
  if (mi_option_set != nullptr) mi_option_set(kDelay, kMilliseconds);
}

// Reports limits of this process as such, and not as our fault.
template <class SystemError>
int end_by(const SystemError& fault) {
  const int code = fault.code().value();
  if (code == EMFILE || code == ENFILE || code == EAGAIN || code == ENOMEM) {
    std::fprintf(stderr, "sallyport: %s; allow this process more (`ulimit -a` shows its limits)\n",
                 fault.code().message().c_str());
    return sallyport::app::kRefused;
  }
  std::fprintf(stderr, "sallyport: unexpected: %s; please report this\n", fault.what());
  return sallyport::app::kInternal;
}

}  // namespace

int main(int argc, char** argv) {
  keep_closed_streams_closed();
  set_up_allocator();
  // A file that may not grow (`ulimit -f`) is a failed write, and must not end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return sallyport::app::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const boost::system::system_error& fault) {
    return end_by(fault);
  } catch (const std::system_error& fault) {
    return end_by(fault);
  } catch (const std::bad_alloc&) {
    report_allocator_error(ENOMEM, nullptr);
    return sallyport::app::kRefused;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "sallyport: unexpected: %s; please report this\n", fault.what());
  } catch (...) {
    std::fputs("sallyport: unexpected fault; please report this\n", stderr);
  }
  return sallyport::app::kInternal;
}
