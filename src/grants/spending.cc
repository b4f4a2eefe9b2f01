#include "grants/spending.h"

#include "grants/token_facts.h"

namespace sallyport::grants {

core::Spending spending_of(const TokenChain& chain, std::size_t index) {
  core::Spending spending;
  for (auto link = chain.links.rbegin(); link != chain.links.rend(); ++link) {
    const Terms& terms = link->grants.at(index);
    spending.limits.push_back(
        {counter_key(link->digest, index), terms.max_invocations, terms.rate});
    spending.introduces.push_back(token_fact(*link, "seen"));
    index = terms.from.value_or(0);
  }
  return spending;
}

}  // namespace sallyport::grants
