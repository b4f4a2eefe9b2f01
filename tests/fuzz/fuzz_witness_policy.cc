// Witness policies from any source are refused or understood, and understood ones can be evaluated.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/try.h"
#include "ledger/proof/witness_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  using namespace sallyport::ledger;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<WitnessPolicy> policy = WitnessPolicy::parse(text);
  if (!policy) return 0;
  std::set<std::string> all;
  for (const WitnessPolicy::Witness& witness : policy->witnesses) {
    SALLYPORT_INVARIANT(VerifierKey::parse(witness.key.text(), KeyType::Cosignature).has_value());
    all.insert(witness.name);
  }
  for (const WitnessPolicy::Group& group : policy->groups) {
    SALLYPORT_INVARIANT(group.threshold >= 1 && group.threshold <= group.members.size());
  }
  // All witnesses together are always enough; none are enough only if none are required.
  SALLYPORT_INVARIANT(policy->is_met_by(all));
  SALLYPORT_INVARIANT(policy->is_met_by({}) == (policy->quorum == "none"));
  (void)require_quorum({.text = "o\n1\nA\n", .signatures = {}}, *policy);
  return 0;
}
