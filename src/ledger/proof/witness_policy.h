// The witnesses, groups and quorum that must cosign a checkpoint (C2SP tlog-policy).
//
//   log ledger.example.com/agents+0a1b2c3d+AQ...
//   witness north witness.example.com/north+4e5f6a7b+BA... https://witness.example.com/north
//   witness south witness.example.org/south+8c9d0e1f+BA... https://witness.example.org/south
//   group both all north south
//   quorum both
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/proof/note.h"

namespace sallyport::ledger {

struct WitnessPolicy {
  struct Log {
    VerifierKey key;
    std::string url{};  // empty: not given
  };
  struct Witness {
    std::string name;  // inside the policy; the key has a name of its own
    VerifierKey key;
    std::string url{};  // where it takes checkpoints; empty: not given
  };
  struct Group {
    std::string name;
    std::size_t threshold = 1;
    std::vector<std::string> members{};  // witnesses and groups, each defined before
  };

  std::vector<Log> logs{};
  std::vector<Witness> witnesses{};
  std::vector<Group> groups{};
  std::string quorum{};  // a witness, a group, or `none`

  // At most 64 KiB, and 64 of each kind of line. `InvalidInput` with `where` = source:line.
  static Result<WitnessPolicy> parse(std::string_view text, std::string_view source = "policy");

  // True if these witnesses, by their names here, make the quorum.
  bool is_met_by(const std::set<std::string>& witnesses) const;
};

// The witnesses of the policy that cosigned the note, by their names there. `InvalidInput`: a line
// of one of them does not verify.
Result<std::set<std::string>> cosigners_of(const Note& note, const WitnessPolicy& policy);

// The same, with an error that names the missing witnesses if there is no quorum.
Result<std::set<std::string>> require_quorum(const Note& note, const WitnessPolicy& policy);

}  // namespace sallyport::ledger
