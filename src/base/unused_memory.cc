#include "base/unused_memory.h"

// Not there in builds with an allocator of their own.
extern "C" [[gnu::weak]] void mi_collect(bool force);

namespace sallyport {

void return_unused_memory() {
  if (mi_collect != nullptr) mi_collect(true);
}

}  // namespace sallyport
