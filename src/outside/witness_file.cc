#include "outside/witness_file.h"

#include "base/try.h"
#include "terminal/input.h"

namespace sallyport::app {

Result<ledger::WitnessPolicy> load_witness_policy(const std::filesystem::path& file) {
  constexpr std::size_t kMost = 64 * 1024;
  SALLYPORT_TRY(const std::string text, read_input(file, kMost + 1));
  return ledger::WitnessPolicy::parse(text, file.string());
}

}  // namespace sallyport::app
