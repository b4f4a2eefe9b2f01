// A person's signed statement that changes an agent's tier (TR-15, TR-16).
//
//   ControlStatement statement{.action = "trust.promote", .agent = "deploy-bot", ...};
//   SALLYPORT_CHECK_OK(check_control(statement, signature, people, now));
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "trust/trust_record.h"

namespace sallyport::trust {

using PublicKey = std::array<std::uint8_t, 32>;

// `ed25519:` and base64.
std::string key_text(const PublicKey& key);
std::optional<PublicKey> key_from(std::string_view text);

// A person as the policy registers one.
struct Reviewer {
  std::string name{};                   // for example `user:ada`
  std::vector<std::string> roles{};     // `approver`, `controller`
  std::optional<PublicKey> key{};       // no value: known by a token only
  std::optional<std::string> token{};   // `sha256:` and hex of it
  std::optional<std::string> client{};  // the principal in whose client the person answers

  bool has_role(std::string_view role) const;
};

struct Reviewers {
  std::vector<Reviewer> people{};

  const Reviewer* find(std::string_view name) const;
};

struct ControlStatement {
  std::string action{};  // trust.promote, trust.demote
  std::string agent{};
  std::string control_id{};
  Autonomy from_tier = Autonomy::ActWithApproval;
  Autonomy to_tier = Autonomy::ActWithApproval;
  std::string ledger{};  // the checkpoint origin
  std::string reviewer{};
  std::string signed_at{};

  // The signed bytes.
  std::string text() const;
};

// `ed25519:` and base64 under a secret key as libsodium keeps it (seed and public key).
std::string sign(const ControlStatement& statement, const std::array<std::uint8_t, 64>& secret);

// `signature` is `ed25519:` and base64.
bool is_signature_of(std::string_view message, std::string_view signature, const PublicKey& key);

// Checks that a registered controller of that name signed these bytes. A name may have several
// keys, if lists of different times are combined. `Unauthenticated` says why not.
Result<void> check_controller(const Reviewers& reviewers, std::string_view name,
                              std::string_view statement, std::string_view signature);

// Checks that the statement is a promotion that goes up or a demotion that goes down.
Result<void> check_direction(const ControlStatement& statement);

// Checks everything that needs no log: the signer is registered as `controller`, is not the agent,
// signed these bytes, and did so within 10 minutes of `at`; a promotion goes up and a demotion
// down. `Unauthenticated` says which of them failed.
Result<void> check_control(const ControlStatement& statement, std::string_view signature,
                           const Reviewers& reviewers, WallTime at);

// The record of an accepted statement.
TrustRecord control_record(const ControlStatement& statement, std::string_view signature,
                           std::string record_id, std::string trace_id, WallTime at);

// The statement that a control record claims, and its signature. `InvalidInput`: it claims none.
struct ClaimedControl {
  ControlStatement statement;
  std::string signature;
};
Result<ClaimedControl> claimed_control(const TrustRecord& record, std::string ledger);

// Checks that this record would have been accepted when it was written, with these people.
Result<void> check_recorded_control(const TrustRecord& record, std::string ledger,
                                    const Reviewers& reviewers);

}  // namespace sallyport::trust
