#include <fmt/format.h>

#include "ledger/proof/cosigned.h"
#include "outside/witness_file.h"
#include "outside/witness_rounds.h"
#include "setup/doctor.h"
#include "terminal/exit_code.h"

namespace sallyport::app {

namespace {

Check refused_by(const core::Fact& fact) {
  const auto refused = core::split_place(fact.value.value_or(""));
  return {"witnesses", Finding::Fail,
          fmt::format("{} refused this log: {}", fact.key, refused ? refused->value : "?"),
          fmt::format("compare `sallyport ledger checkpoint` with what it has seen; `sallyport "
                      "ledger show {}` says when",
                      refused ? refused->sequence : 0)};
}

Check newest_word(ledger::ReadView& view) {
  const Result<std::optional<ledger::Cosigned>> newest = ledger::newest_cosigned(view, 0);
  const Result<std::uint64_t> size = view.size();
  if (!newest || !size || !*newest) {
    return {"witnesses", Finding::Warn, "none has cosigned a checkpoint under the current key",
            "run `sallyport ledger witness --once` to see why"};
  }
  const std::string detail = fmt::format("size {} of {} is cosigned", (*newest)->size, *size);
  if ((*newest)->has_quorum) return {"witnesses", Finding::Ok, detail + " by a quorum", ""};
  return {"witnesses", Finding::Warn, detail + ", not by a quorum",
          "run `sallyport ledger witness --once` to see who is missing"};
}

}  // namespace

std::vector<Check> examine_witnesses(ledger::ReadView& view, const LedgerConfig& config) {
  std::vector<Check> checks;
  const Result<std::vector<core::Fact>> refused = view.facts(kWitnessRefusedSpace);
  if (!refused) {
    return {{"witnesses", Finding::Fail, refused.error().message, "run `sallyport ledger verify`"}};
  }
  for (const core::Fact& fact : *refused) checks.push_back(refused_by(fact));
  if (!config.witnesses) return checks;
  const Result<ledger::WitnessPolicy> policy = load_witness_policy(*config.witnesses);
  if (!policy) {
    checks.push_back({"witnesses", Finding::Fail, with_place(policy.error()),
                      "repair the file that `ledger.witnesses` names"});
  } else {
    checks.push_back(newest_word(view));
  }
  return checks;
}

}  // namespace sallyport::app
