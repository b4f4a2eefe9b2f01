#include "core/approval/live_questions.h"

#include <fmt/format.h>

#include "base/try.h"

namespace sallyport::core::live_questions {

namespace {

constexpr std::string_view kLiveSpace = "approval_live";
// Key: a state. Value: how many questions ended in it. `-` and state: how many opened again.
// `begun`: the index exists. `from` and state: how many had ended in it before that.
constexpr std::string_view kDoneSpace = "approval_done";
constexpr std::string_view kBegun = "begun";
constexpr std::string_view kBefore = "from ";
constexpr std::string_view kReopened = "-";

Fact counted(std::string key) {
  return {.space = std::string(kDoneSpace), .key = std::move(key), .value = "", .counts = true};
}

Result<bool> has_begun(RecordReader& records) {
  SALLYPORT_TRY(const std::optional<std::string> begun, records.fact(kDoneSpace, kBegun));
  return begun.has_value();
}

// All that were ever asked, for a ledger without the index.
Result<std::vector<Live>> scanned(RecordReader& records) {
  SALLYPORT_TRY(const std::vector<Fact> stored, records.facts(kApprovalSpace));
  std::vector<Live> found;
  for (const Fact& fact : stored) {
    found.emplace_back(fact.key, ApprovalState::parse(fact.value.value_or("")));
  }
  return found;
}

}  // namespace

bool is_live(const ApprovalState& state) {
  return state.open() || state.yes_expires();
}

ApprovalStatus shown_status(const ApprovalState& state, WallTime now) {
  const bool decided = state.open() && state.folded();
  return now >= state.expires_at && is_live(state) && !decided ? ApprovalStatus::Expired
                                                               : state.status;
}

Fact opened(const std::string& approval_id) {
  return {std::string(kLiveSpace), approval_id, "1"};
}

void add_done(std::vector<Fact>& facts, const std::string& approval_id, ApprovalStatus status) {
  facts.push_back({std::string(kLiveSpace), approval_id, std::nullopt});
  facts.push_back(counted(std::string(to_string(status))));
}

void add_reopened(std::vector<Fact>& facts, const std::string& approval_id,
                  const ApprovalState& before) {
  facts.push_back(opened(approval_id));
  if (!is_live(before))
    facts.push_back(counted(fmt::format("{}{}", kReopened, to_string(before.status))));
}

void begin(RecordReader& records, std::vector<Fact>& facts) {
  const Result<bool> begun = has_begun(records);
  if (!begun || *begun) return;
  const Result<std::vector<Live>> asked = scanned(records);
  if (!asked) return;
  std::map<ApprovalStatus, std::uint64_t> done;
  for (const auto& [id, state] : *asked) {
    // An unreadable question stays in the list.
    if (!state || is_live(*state)) {
      facts.push_back(opened(id));
    } else {
      ++done[state->status];
    }
  }
  for (const auto& [status, count] : done) {
    facts.push_back({std::string(kDoneSpace), fmt::format("{}{}", kBefore, to_string(status)),
                     std::to_string(count)});
  }
  facts.push_back({std::string(kDoneSpace), std::string(kBegun), "1"});
}

Result<std::vector<Live>> all(RecordReader& records) {
  SALLYPORT_TRY(const bool begun, has_begun(records));
  std::vector<Live> found;
  if (begun) {
    SALLYPORT_TRY(const std::vector<Fact> indexed, records.facts(kLiveSpace));
    for (const Fact& fact : indexed) {
      SALLYPORT_TRY(const std::optional<std::string> stored,
                    records.fact(kApprovalSpace, fact.key));
      if (stored) found.emplace_back(fact.key, ApprovalState::parse(*stored));
    }
  } else {
    SALLYPORT_TRY(found, scanned(records));
  }
  std::erase_if(found, [](const Live& one) { return one.second && !is_live(*one.second); });
  return found;
}

Result<std::map<ApprovalStatus, std::uint64_t>> counts(RecordReader& records, WallTime now) {
  std::map<ApprovalStatus, std::uint64_t> counted;
  SALLYPORT_TRY(const bool begun, has_begun(records));
  SALLYPORT_TRY(const std::vector<Live> states, begun ? all(records) : scanned(records));
  for (const auto& [id, state] : states) {
    if (state) ++counted[shown_status(*state, now)];
  }
  if (!begun) return counted;
  SALLYPORT_TRY(const std::vector<Fact> done, records.facts(kDoneSpace));
  for (const Fact& fact : done) {
    std::string_view word = fact.key;
    if (word == kBegun) continue;
    const bool reopened = word.starts_with(kReopened);
    if (reopened) word.remove_prefix(kReopened.size());
    if (word.starts_with(kBefore)) word.remove_prefix(kBefore.size());
    const std::uint64_t count = std::strtoull(fact.value.value_or("0").c_str(), nullptr, 10);
    if (const auto status = approval_status_from(word))
      counted[*status] += reopened ? -count : count;
  }
  return counted;
}

}  // namespace sallyport::core::live_questions
