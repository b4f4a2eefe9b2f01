#include "outside/witness_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/encoding.h"
#include "base/together.h"
#include "base/try.h"
#include "ledger/proof/cosigned.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/tree.h"
#include "ledger/read/look_at.h"

namespace sallyport::app {

namespace {

using Kind = WitnessAnswer::Kind;

constexpr std::chrono::seconds kLongestPause{300};

std::string_view word_of(Kind kind) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"cosigned", "conflict", "refused", "failed"});
  static_assert(kNames.size() == static_cast<std::size_t>(Kind::Failed) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

// One second, then two, four, ... up to five minutes.
std::chrono::seconds pause_after(unsigned failures) {
  return std::min(std::chrono::seconds(1u << std::min(failures - 1, 9u)), kLongestPause);
}

std::string fact_key(const ledger::VerifierKey& key) {
  return fmt::format("{}+{}", key.name, hex(key.id));
}

core::Draft refusal(const ledger::WitnessPolicy::Witness& witness, const WitnessAnswer& answer,
                    std::uint64_t size) {
  core::Draft draft = ledger::control("witness_refused", {{"witness", witness.name},
                                                          {"key", witness.key.text()},
                                                          {"status", answer.status},
                                                          {"size", size},
                                                          {"reason", answer.detail}});
  draft.facts.push_back({.space = std::string(kWitnessRefusedSpace),
                         .key = fact_key(witness.key),
                         .value = fmt::format("{} {}", answer.status, answer.detail),
                         .with_place = true});
  return draft;
}

}  // namespace

WitnessRounds::WitnessRounds(Parts parts, ledger::WitnessPolicy policy)
    : parts_(std::move(parts)),
      policy_(std::move(policy)),
      offers_(parts_.metrics.counter("sallyport_witness_offers_total",
                                     "Checkpoints that were offered to witnesses, by the answer.",
                                     {"witness", "answer"})),
      sizes_(parts_.metrics.gauge("sallyport_witness_cosigned_size",
                                  "The size of the log that a witness cosigned last.",
                                  {"witness"})) {}

Result<std::unique_ptr<WitnessRounds>> WitnessRounds::open(
    const boost::asio::any_io_executor& executor, Parts parts, ledger::WitnessPolicy policy) {
  std::unique_ptr<WitnessRounds> rounds(new WitnessRounds(std::move(parts), std::move(policy)));
  for (const ledger::WitnessPolicy::Witness& witness : rounds->policy_.witnesses) {
    if (witness.url.empty()) continue;  // only for verifiers
    Result<std::unique_ptr<WitnessPeer>> peer = WitnessPeer::open(executor, witness);
    if (!peer) {
      return fail(peer.error().code,
                  fmt::format("witness `{}`: {}", witness.name, peer.error().message));
    }
    rounds->members_.push_back({.peer = std::move(*peer)});
  }
  if (!rounds->members_.empty()) return rounds;
  return fail(ErrorCode::InvalidInput,
              "no witness has a URL, so checkpoints cannot be offered; write it behind its key");
}

Result<bool> WitnessRounds::claim() {
  if (!parts_.ledger.holds(claim_)) {
    claim_.reset();
    SALLYPORT_TRY(claim_, parts_.ledger.claim("witnesses"));
  }
  return claim_ != nullptr;
}

void WitnessRounds::cancel() {
  cancelled_ = true;
  for (Member& member : members_) member.peer->cancel();
}

Result<WitnessRounds::Offered> WitnessRounds::newest() const {
  return ledger::look_at(parts_.ledger.store(), [&](ledger::ReadView& view) -> Result<Offered> {
    SALLYPORT_TRY(const ledger::ReadView::Head head, view.head());
    Offered offered{.size = head.size, .checkpoint = head.checkpoint};
    if (head.size == 0) return offered;
    SALLYPORT_TRY(const std::string whole,
                  ledger::with_cosignatures(view, head.size, head.checkpoint));
    SALLYPORT_TRY(const ledger::Note note, ledger::Note::parse(whole));
    SALLYPORT_TRY(offered.cosigners, ledger::cosigners_of(note, policy_));
    return offered;
  });
}

Result<ledger::Proof> WitnessRounds::proof_from(std::uint64_t old_size, std::uint64_t size) const {
  if (old_size == 0 || old_size == size) return ledger::Proof();
  return ledger::look_at(parts_.ledger.store(), [&](ledger::ReadView& view) {
    return ledger::consistency_proof(old_size, size, ledger::subtree_hash(view));
  });
}

Task<WitnessRounds::Round> WitnessRounds::offer(bool everybody) {
  SALLYPORT_CO_TRY(const Offered offered, newest());
  Round round{.size = offered.size, .has_quorum = policy_.is_met_by(offered.cosigners)};
  if (offered.size == 0) co_return round;
  std::vector<Async<MemberAnswer>> asked;
  const SteadyTime now = parts_.clock.steady();
  for (Member& member : members_) {
    if (offered.cosigners.contains(member.peer->witness().name)) continue;
    if (everybody || member.next_try <= now) asked.push_back(ask(member, offered));
  }
  if (asked.empty()) co_return round;
  if (offered.size != announced_) {
    SALLYPORT_CO_CHECK_OK(ledger::note_offered(parts_.ledger, offered.size));
    announced_ = offered.size;
  }
  round.answers = co_await together(std::move(asked));
  SALLYPORT_CO_CHECK_OK(keep(offered, round.answers));
  std::set<std::string> cosigners = offered.cosigners;
  for (const MemberAnswer& member : round.answers) {
    if (member.answer.kind == Kind::Cosigned) cosigners.insert(member.witness);
  }
  round.has_quorum = policy_.is_met_by(cosigners);
  co_return round;
}

Async<WitnessRounds::MemberAnswer> WitnessRounds::ask(Member& member, const Offered& offered) {
  WitnessAnswer answer = co_await offer_to(member, offered);
  remember(member, answer, offered.size);
  co_return MemberAnswer{member.peer->witness().name, std::move(answer)};
}

// Offers again if the witness names the size that it knows: from there, with a proof.
Async<WitnessAnswer> WitnessRounds::offer_to(Member& member, const Offered& offered) {
  WitnessAnswer answer;
  for (int time = 0; time < 2; ++time) {
    const std::uint64_t from = std::min(member.known, offered.size);
    Result<ledger::Proof> proof = proof_from(from, offered.size);
    if (!proof) co_return WitnessAnswer{.detail = proof.error().message};
    answer = co_await member.peer->add_checkpoint(from, std::move(*proof), offered.checkpoint);
    if (answer.kind == Kind::Differs) answer = judge_size(answer, from, offered);
    if (answer.kind != Kind::Differs) co_return answer;
    member.known = answer.size;
  }
  co_return answer;
}

// Judges a size that differs from the one we sent. It stays `Differs` if a proof from there can be
// sent.
WitnessAnswer WitnessRounds::judge_size(const WitnessAnswer& differs, std::uint64_t sent,
                                        const Offered& offered) const {
  const auto judged = [&](Kind kind, std::string detail) {
    return WitnessAnswer{
        .kind = kind, .size = differs.size, .status = differs.status, .detail = std::move(detail)};
  };
  if (differs.size < offered.size && differs.size != sent) return differs;
  if (differs.size == offered.size && sent != offered.size) return differs;
  if (differs.size == sent) {
    return judged(sent == offered.size ? Kind::Refused : Kind::Failed,
                  fmt::format("it answers 409 and knows size {}, which was sent", sent));
  }
  // Larger than what was offered: by another process of ours since then, or by a log that is gone.
  const Result<Offered> now = newest();
  if (!now) return judged(Kind::Failed, now.error().message);
  if (now->size >= differs.size) return judged(Kind::Failed, "it knows a newer checkpoint already");
  return judged(Kind::Refused, fmt::format("it cosigned size {}, and this log has {} entries",
                                           differs.size, now->size));
}

void WitnessRounds::remember(Member& member, const WitnessAnswer& answer, std::uint64_t size) {
  if (cancelled_) return;
  const ledger::WitnessPolicy::Witness& witness = member.peer->witness();
  offers_.at({witness.name, word_of(answer.kind)}).add();
  if (answer.kind == Kind::Cosigned) {
    if (member.failures > 0) {
      parts_.log(fmt::format("the witness `{}` cosigns again: size {}", witness.name, size));
    }
    member.known = size;
    member.failures = 0;
    member.next_try = {};
    sizes_.at({witness.name}).set(static_cast<double>(size));
    return;
  }
  if (member.failures++ == 0) {
    parts_.log(fmt::format("warning: the witness `{}` did not cosign size {}: {}", witness.name,
                           size, answer.detail));
  }
  member.next_try = parts_.clock.steady() + pause_after(member.failures);
}

// One transaction for the round. A refusal is one entry, until the witness cosigns again (SC-56).
Result<void> WitnessRounds::keep(const Offered& offered, const std::vector<MemberAnswer>& answers) {
  const auto counts = [](const MemberAnswer& member) {
    return member.answer.kind == Kind::Cosigned || member.answer.kind == Kind::Refused;
  };
  if (std::ranges::none_of(answers, counts)) return {};
  SALLYPORT_CHECK_OK(
      parts_.ledger.transact([&](ledger::WriteView& view) -> Result<std::vector<core::Draft>> {
        std::vector<core::Draft> drafts;
        std::vector<ledger::NoteSignature> lines;
        for (const MemberAnswer& member : answers) {
          if (!counts(member)) continue;
          const auto& witness = *std::ranges::find(policy_.witnesses, member.witness,
                                                   &ledger::WitnessPolicy::Witness::name);
          const std::string key = fact_key(witness.key);
          SALLYPORT_TRY(const auto recorded, view.fact(kWitnessRefusedSpace, key));
          if (member.answer.kind == Kind::Refused) {
            if (!recorded) drafts.push_back(refusal(witness, member.answer, offered.size));
            continue;
          }
          lines.insert(lines.end(), member.answer.lines.begin(), member.answer.lines.end());
          if (!recorded) continue;
          SALLYPORT_CHECK_OK(view.put_fact({std::string(kWitnessRefusedSpace), key, std::nullopt}));
        }
        if (!lines.empty()) {
          SALLYPORT_CHECK_OK(ledger::keep_cosignatures(view, offered.checkpoint, lines, policy_));
        }
        return drafts;
      }));
  return {};
}

}  // namespace sallyport::app
