#include "store/postgresql/libpq.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ledger/store.h"

namespace sallyport::store::postgresql {

const Libpq* pq = nullptr;

namespace {

// The version of its interface, the same since PostgreSQL 8.2.
constexpr const char* kFile = "libpq.so.5";

Libpq functions;

Result<void> load() {
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return ledger::ledger_unavailable(
        "io", fmt::format("a ledger in PostgreSQL needs libpq, and it cannot be loaded ({}): "
                          "install the package libpq5",
                          why == nullptr ? kFile : why));
  }
  const char* missing = nullptr;
#define SALLYPORT_FIND(name)                                                            \
  functions.name = reinterpret_cast<decltype(functions.name)>(::dlsym(library, #name)); \
  if (functions.name == nullptr) missing = #name;
  SALLYPORT_LIBPQ_FUNCTIONS(SALLYPORT_FIND)
#undef SALLYPORT_FIND
  if (missing != nullptr) {
    return ledger::ledger_unavailable(
        "io", fmt::format("{} has no `{}`: install libpq 14 or later", kFile, missing));
  }
  pq = &functions;
  return {};
}

}  // namespace

Result<void> load_libpq() {
  static const Result<void> loaded = load();
  return loaded;
}

}  // namespace sallyport::store::postgresql
