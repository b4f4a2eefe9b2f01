// Offers checkpoints of a ledger to the witnesses of its policy, all of them in one round, and
// stores their answers. One process of a data folder at a time does so. It reads and writes the
// ledger on the thread that awaits it, which may block: never on the loop of calls.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "ledger/ledger.h"
#include "outside/witness_peer.h"

namespace sallyport::app {

// Facts of witnesses that refused this log and have not cosigned since, by the name of their key.
inline constexpr std::string_view kWitnessRefusedSpace = "witness_refused";

class WitnessRounds {
 public:
  // All must outlive it.
  struct Parts {
    ledger::Ledger& ledger;
    const Clock& clock;
    Metrics& metrics;
    std::function<void(std::string_view)> log;
  };
  struct MemberAnswer {
    std::string witness;
    WitnessAnswer answer;
  };
  struct Round {
    std::uint64_t size = 0;  // 0: the log has no entry, or another process offers it
    std::vector<MemberAnswer> answers{};
    bool has_quorum = false;  // at this size
  };

  // `InvalidInput`: no witness has a URL, or one is wrong.
  static Result<std::unique_ptr<WitnessRounds>> open(const boost::asio::any_io_executor& executor,
                                                     Parts parts, ledger::WitnessPolicy policy);

  // False: another process has it. Held until this object goes.
  Result<bool> claim();

  // Offers the newest checkpoint to all witnesses that have not cosigned it. After a failure a
  // witness is skipped for a while, unless `everybody` is set. An error is one of the ledger.
  Task<Round> offer(bool everybody);
  void cancel();

 private:
  struct Member {
    std::unique_ptr<WitnessPeer> peer;
    std::uint64_t known = 0;  // the size that it cosigned last, as far as we know
    unsigned failures = 0;    // in a row
    SteadyTime next_try{};
  };
  // The checkpoint that is offered, from one snapshot.
  struct Offered {
    std::uint64_t size = 0;
    std::string checkpoint{};
    std::set<std::string> cosigners{};
  };

  WitnessRounds(Parts parts, ledger::WitnessPolicy policy);
  Result<Offered> newest() const;
  Result<ledger::Proof> proof_from(std::uint64_t old_size, std::uint64_t size) const;
  Async<MemberAnswer> ask(Member& member, const Offered& offered);
  Async<WitnessAnswer> offer_to(Member& member, const Offered& offered);
  WitnessAnswer judge_size(const WitnessAnswer& differs, std::uint64_t sent,
                           const Offered& offered) const;
  void remember(Member& member, const WitnessAnswer& answer, std::uint64_t size);
  Result<void> keep(const Offered& offered, const std::vector<MemberAnswer>& answers);

  Parts parts_;
  ledger::WitnessPolicy policy_;
  MetricNumbers& offers_;
  MetricNumbers& sizes_;
  std::vector<Member> members_;
  std::shared_ptr<void> claim_;  // shared, as the ledger hands claims out; null: not ours yet
  std::uint64_t announced_ = 0;  // the size that was offered last
  bool cancelled_ = false;
};

}  // namespace sallyport::app
