#include "api/readers.h"

#include <sys/resource.h>

namespace sallyport::api {

void Readers::step_back() {
  constexpr int kBehindCalls = 5;
  constexpr id_t kThisThread = 0;  // on Linux a priority is of a thread
  thread_local const bool stepped = [] {
    return setpriority(PRIO_PROCESS, kThisThread,
                       getpriority(PRIO_PROCESS, kThisThread) + kBehindCalls) == 0;
  }();
  static_cast<void>(stepped);
}

}  // namespace sallyport::api
