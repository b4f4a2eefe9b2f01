// Checks a chain of trust records one after the other, with nothing kept but the last hash and the
// ids of control records (TR-21..TR-23).
//
//   ChainVerifier verifier({.reviewers = &people, .origin = origin});
//   while (next(text)) verifier.take(text);
//   ChainReport report = verifier.finish();
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trust/control.h"
#include "trust/record_text.h"

namespace sallyport::trust {

struct ChainReport {
  std::string topic{kTopic};
  std::uint64_t total = 0;   // of the records that were checked
  std::uint64_t pruned = 0;  // records before the first of them
  bool verified = false;
  std::optional<std::string> root_hash{};
  std::optional<std::uint64_t> broken_at_event_id{};  // the first bad record, counted from 1
  std::vector<std::string> errors{};                  // at most 100
  std::vector<std::string> warnings{};                // at most 100
};
json::object to_json(const ChainReport& report);

class ChainVerifier {
 public:
  struct Rules {
    // True: the records are ours and must keep TR-7, TR-15 and TR-16.
    bool ours = false;
    // True: the chain may begin at a later record, because a ledger pruned those before it. The
    // first record then says its own place.
    bool after_prune = false;
    // Null: signatures of control records cannot be checked, and a warning says so.
    const Reviewers* reviewers = nullptr;
    std::string origin{};
  };
  explicit ChainVerifier(Rules rules) : rules_(std::move(rules)) {}

  void set_ours(bool ours) { rules_.ours = ours; }
  void take(std::string_view record);
  // The totals that an export states besides its records.
  void expect(std::optional<std::uint64_t> total, std::optional<std::string> root_hash);
  void report_wrong(std::string what);  // about the export as a whole
  ChainReport finish();

 private:
  void wrong(std::uint64_t index, std::string what);
  void warn(std::string what);
  void find_beginning();
  void check_links(std::uint64_t index);
  void check_meaning(std::uint64_t index);
  void check_approval(std::uint64_t index, const json::object& metadata);
  void check_authority(std::uint64_t index, const json::object& metadata);

  Rules rules_;
  RecordText record_;
  std::string last_hash_;
  std::set<std::string, std::less<>> control_ids_;
  ChainReport report_;
};

}  // namespace sallyport::trust
