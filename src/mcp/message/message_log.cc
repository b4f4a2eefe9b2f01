#include "mcp/message/message_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <utility>
#include <vector>

#include "base/cut_text.h"
#include "base/json_members.h"
#include "core/record/finding.h"
#include "core/record/plain_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::size_t kMostMethods = 64;
constexpr std::size_t kMostEvidence = 16;
constexpr std::size_t kLargestEvidence = 4 * 1024;
constexpr std::size_t kMostEvidenceBytes = 12 * 1024;
constexpr std::size_t kMostFound = 256;
constexpr std::size_t kMostRead = 4096;
constexpr std::size_t kLongestMethod = 200;
constexpr std::string_view kOthers = "(others)";
constexpr std::chrono::milliseconds kFirstPause{1'000};
constexpr std::chrono::milliseconds kLongestPause{60'000};

std::string_view name_of(MessageLog::Action action) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"redacted", "withheld", "refused", "dropped", "passed", "trimmed", "noted"});
  static_assert(kNames.size() == static_cast<std::size_t>(MessageLog::Action::Noted) + 1);
  return kNames[static_cast<std::size_t>(action)];
}

}  // namespace

bool MessageLog::note(Action action, Side from, std::string_view method,
                      const std::string& evidence, FoundInMessage found) {
  // Cut after the redaction, because half a secret is not recognised.
  const std::string shown = core::plain_text(redactor_, cut_utf8_bytes(method, kMostRead));
  Key key{action, from, cut_utf8_bytes(shown, kLongestMethod)};
  if (!counts_.contains(key) && counts_.size() >= kMostMethods) key.method = kOthers;
  const std::uint64_t more_hits = keep(key.method, std::move(found));
  Count& count = counts_[std::move(key)];
  ++count.messages;
  count.more_hits += more_hits;
  keep_evidence(count, evidence);
  return !std::exchange(writing_, true);
}

// All of it must fit into one entry.
void MessageLog::keep_evidence(Count& count, const std::string& evidence) {
  if (evidence.empty() || count.evidence.size() >= kMostEvidence) return;
  std::string kept = evidence;
  if (kept.size() > kLargestEvidence) {
    kept = fmt::format("[{} bytes of evidence left out]", evidence.size());
  }
  if (evidence_bytes_ + kept.size() > kMostEvidenceBytes) return;
  const std::size_t size = kept.size();
  if (count.evidence.insert(std::move(kept)).second) evidence_bytes_ += size;
}

// Returns the number of hits that get no entry, so that a peer that floods cannot fill the log.
std::uint64_t MessageLog::keep(const std::string& method, FoundInMessage found) {
  Subject about = subject_;
  about.tool_name = method;
  std::uint64_t left_out = 0;
  for (Finding& finding : found.findings) {
    HitKey key{method, text_or_empty(finding.body, "check"), text_or_empty(finding.body, "action")};
    if (hit_rows_.size() < kMostFound && hits_.insert(std::move(key)).second) {
      hit_rows_.push_back(core::finding_row(std::move(finding), about));
    } else {
      ++left_out;
    }
  }
  for (core::Escalation& escalation : found.escalations) {
    if (escalated_.size() >= kMostFound) break;
    escalation.message = core::plain_text(redactor_, std::move(escalation.message));
    escalated_.push_back(std::move(escalation));
  }
  return left_out;
}

Async<void> MessageLog::write() {
  std::chrono::milliseconds pause = kFirstPause;
  while (!counts_.empty()) {
    json::array messages;
    for (const auto& [key, count] : std::exchange(counts_, {})) {
      json::object message{{"what", name_of(key.action)},
                           {"from", to_string(key.from)},
                           {"method", key.method},
                           {"count", count.messages}};
      if (count.more_hits > 0) message["more_hits"] = count.more_hits;
      if (!count.evidence.empty()) message["evidence"] = json::value_from(count.evidence);
      messages.push_back(std::move(message));
    }
    hits_.clear();
    evidence_bytes_ = 0;
    std::vector<core::Draft> drafts = std::exchange(hit_rows_, {});
    core::Escalations::Opened opened =
        escalations_.open(std::exchange(escalated_, {}), subject_, drafts);
    core::append(drafts, std::move(opened.drafts));
    drafts.push_back({.kind = core::Kind::Topic,
                      .subject = subject_,
                      .topic = "mcp",
                      .body = {{"record", "mcp_messages"}, {"messages", std::move(messages)}},
                      .facts = std::move(opened.counts)});
    const auto written = co_await records_.append(drafts, core::Urgency::Reports);
    if (!written) records_.owe(std::move(drafts));
    if (!hurries_) co_await bell_.wait("hurry", pause, {});
    pause = std::min(2 * pause, kLongestPause);
  }
  writing_ = false;
}

void MessageLog::hurry() {
  hurries_ = true;
  bell_.ring("hurry");
}

}  // namespace sallyport::mcp
