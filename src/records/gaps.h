// The gaps of a log that verifies: times without a writer, calls that passed a failing guard,
// unknown outcomes, removed content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/store.h"
#include "sallyport/json.h"

namespace sallyport::app {

enum class GapKind {
  Downtime,
  FailOpen,
  ClockStep,
  KeyRotation,
  Rollback,
  Witness,
  Erased,
  Pruned,
  TurnedAway,
  UnknownOutcome,
};
std::string_view to_string(GapKind kind);
// All of them, as `to_string` writes them.
std::vector<std::string> gap_kinds();

struct Gap {
  std::uint64_t sequence = 0;
  std::string at;
  GapKind kind = GapKind::Downtime;
  std::string detail;

  json::object to_json() const;
};

class GapList {
 public:
  // Adds the gap that the entry reports, if it reports one.
  void look_at(const json::value& entry);

  const std::vector<Gap>& gaps() const { return gaps_; }
  std::uint64_t left_out() const { return left_out_; }
  json::array to_json() const;

 private:
  void note(const json::object& entry, GapKind kind, std::string detail);
  void note_control(const json::object& entry, const json::object& body);

  std::vector<Gap> gaps_;
  std::uint64_t left_out_ = 0;
};

// The gaps of a stored ledger, in write order.
Result<GapList> find_gaps(ledger::ReadView& view);

// The gaps of a JSON Lines export that has been verified.
Result<GapList> find_gaps(std::istream& lines);

}  // namespace sallyport::app
