// The state of a question. It is a fact that changes with the entries of the question.
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

// The answer of one person, as it is stored.
struct Vote {
  std::string by{};
  std::string at{};
  std::string door{};
  std::string signature{};     // empty: known by the entry alone
  std::uint64_t sequence = 0;  // of its entry; 0: written together with the decision
  bool approved = false;

  // The form in decisions and trust records (AP-16).
  std::string proof() const;

  bool operator==(const Vote&) const = default;
};

// Further reviewers who may answer from that time on (RU-19).
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
  Invalidated,  // the call will not run
  Used,         // the approved call has begun
};
std::string_view to_string(ApprovalStatus status);
std::optional<ApprovalStatus> approval_status_from(std::string_view word);

struct ApprovalState {
  ApprovalStatus status = ApprovalStatus::Pending;
  std::string call_id{};
  std::string call_digest{};
  WallTime expires_at{};  // of the question; once approved: of the approval
  std::chrono::seconds use_within{600};
  std::uint64_t required = 1;
  std::vector<Vote> votes{};
  std::vector<std::string> also{};      // further reviewers after an escalation (AP-26)
  std::vector<LaterReviewers> later{};  // escalations whose time has not come
  bool reason_required = false;         // a yes without a reason is rejected (RU-18)
  bool needs_human = false;             // AT-17; false as well if an earlier release asked
  std::string on_behalf_of{};           // the user for whom the agent acts; empty: unknown
  std::string stored{};                 // the stored fact, which a change expects
  std::uint64_t sequence = 0;           // of the entry that wrote this state

  std::string text() const;
  static Result<ApprovalState> parse(std::string_view stored);
  // The fact to write, and the stored fact that this write expects.
  Fact fact(const std::string& approval_id) const;
  Fact expected(const std::string& approval_id) const;

  bool open() const { return status == ApprovalStatus::Pending; }
  // True if the time of an element of `later` has come.
  bool passes_on(WallTime now) const;
  // A yes to a call expires. An answer to a question does not (AP-25).
  bool yes_expires() const { return status == ApprovalStatus::Approved && !call_id.empty(); }
  // True if people have decided and the decision is not used yet.
  bool decided() const {
    return status == ApprovalStatus::Approved || status == ApprovalStatus::Denied;
  }
  // `Approved` or `Denied` if the votes suffice, else no value (AP-10, AP-11).
  std::optional<ApprovalStatus> folded() const;
  // The people who approved, each once, in order; for a refusal, the person who refused.
  std::vector<Vote> counted() const;
};

// No value: there is no such question.
Result<std::optional<ApprovalState>> approval_state(RecordReader& records,
                                                    const std::string& approval_id);

}  // namespace sallyport::core
