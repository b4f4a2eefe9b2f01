// Where a question stands, as a fact that changes with the entries that say so.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/record/record_reader.h"

namespace sallyport::core {

inline constexpr std::string_view kApprovalSpace = "approval";

// What one person said.
struct Vote {
  std::string by{};
  std::string at{};
  std::string door{};
  std::string signature{};     // empty: known by the entry alone
  std::uint64_t sequence = 0;  // of its entry; 0: written together with the decision
  bool approved = false;

  // As it stands in decisions and trust records (AP-16).
  std::string proof() const;

  bool operator==(const Vote&) const = default;
};

// From then on others may answer too (RU-19).
struct LaterReviewers {
  WallTime at{};
  std::string rule{};
  std::vector<std::string> to{};
};

enum class ApprovalStatus {
  Pending,
  Approved,
  Denied,
  Expired,
  Cancelled,
  Invalidated,  // what was asked about will not run
  Used,         // the call that it was given for has begun
};
std::string_view to_string(ApprovalStatus status);
std::optional<ApprovalStatus> approval_status_from(std::string_view word);

struct ApprovalState {
  ApprovalStatus status = ApprovalStatus::Pending;
  std::string call_id{};
  std::string call_digest{};
  WallTime expires_at{};  // of the question; once approved: of the yes
  std::chrono::seconds use_within{600};
  std::uint64_t required = 1;
  std::vector<Vote> votes{};
  std::vector<std::string> also{};      // who may answer too, after it was passed on (AP-26)
  std::vector<LaterReviewers> later{};  // that has not happened yet
  bool reason_required = false;         // a yes without a reason is rejected (RU-18)
  std::string stored{};                 // the fact as it is, which a change expects
  std::uint64_t sequence = 0;           // of the entry that said so

  std::string text() const;
  static Result<ApprovalState> parse(std::string_view stored);
  // The fact as it shall be, and as it must still be found for that.
  Fact fact(const std::string& approval_id) const;
  Fact expected(const std::string& approval_id) const;

  bool open() const { return status == ApprovalStatus::Pending; }
  // Is there something in `later` whose time has come?
  bool passes_on(WallTime now) const;
  // A yes to a call expires. An answer to a question does not (AP-25).
  bool yes_expires() const { return status == ApprovalStatus::Approved && !call_id.empty(); }
  // People have decided, and nothing came of it yet.
  bool decided() const {
    return status == ApprovalStatus::Approved || status == ApprovalStatus::Denied;
  }
  // `Approved` or `Denied`, where the votes suffice for it (AP-10, AP-11).
  std::optional<ApprovalStatus> folded() const;
  // Those who said yes, each once, in order; of a refusal, who refused.
  std::vector<Vote> counted() const;
};

// Nothing: there is no such question.
Result<std::optional<ApprovalState>> approval_state(RecordReader& records,
                                                    const std::string& approval_id);

}  // namespace sallyport::core
