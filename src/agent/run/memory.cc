#include "agent/run/memory.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "agent/tool/redacted_text.h"
#include "base/cut_text.h"
#include "base/race.h"
#include "base/try.h"
#include "core/plan/pipeline.h"
#include "core/record/finding.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLongestQuery = 4'096;
constexpr std::size_t kLongestPart = 16 * 1024;  // of a record: the task, and the answer
constexpr std::size_t kPreview = 120;
constexpr std::chrono::seconds kIngestTime{5};

}  // namespace

std::string Memory::redacted(std::string text) const {
  return redacted_text(parts_.redactor, std::move(text));
}

Async<std::string> Memory::recall(std::string query, std::stop_token cancel) {
  query = cut_utf8_bytes(query, kLongestQuery);
  if (!settings_.recall || query.find_first_not_of(" \t\r\n") == std::string::npos) co_return "";
  const Subject subject = this->subject();
  const Result<void> emitted = co_await parts_.events.emit(
      event::MemorySearchStarted{.agent_id = asker_.agent_id,
                                 .limit = settings_.limit,
                                 .query_preview = cut_code_points(redacted(query), kPreview)},
      subject);
  if (!emitted) co_return "";
  Result<Found> found = co_await search(std::move(query), std::move(cancel));
  event::MemorySearchFinished finished{.agent_id = asker_.agent_id, .success = found.has_value()};
  if (found) {
    found->text = co_await released(std::move(found->text));
    finished.result_count = found->text.empty() ? 0 : found->count;
  } else {
    finished.error = found.error().message;
  }
  (void)co_await parts_.events.emit(std::move(finished), subject);
  co_return found ? std::move(found->text) : "";
}

Async<Result<Memory::Found>> Memory::search(std::string query, std::stop_token cancel) {
  SALLYPORT_CO_TRY(
      const std::vector<sessions::MemoryRecord> records,
      co_await on_store(parts_, [agent = asker_.agent_id, query = std::move(query),
                                 limit = settings_.limit, timeout = settings_.timeout,
                                 cancel = std::move(cancel)](sessions::SessionStore& store) {
        return store.search(agent, query, limit, timeout, cancel);
      }));
  Found found;
  for (const sessions::MemoryRecord& record : records) {
    std::string more = fmt::format("{}{}", found.text.empty() ? "" : "\n\n", record.text);
    std::string longer = cut_code_points(found.text + more, settings_.max_chars);
    if (longer.size() == found.text.size()) break;
    found.text = std::move(longer);
    ++found.count;
  }
  co_return found;
}

// Memory is untrusted text, like the result of a tool.
Async<std::string> Memory::released(std::string text) {
  if (text.empty()) co_return text;
  const std::shared_ptr<const core::Plan> plan = parts_.plans.current();
  core::FailOpen fail_open(parts_.fail_open);
  core::ShortRelease release = co_await core::run_pipeline_short(
      *plan, Envelope::of(json::value(text)),
      {.tool = "memory_search", .policy_hash = plan->hash()}, parts_.clock, fail_open);
  core::FailOpenLog::Share share = fail_open.take();
  std::vector<core::Draft> drafts = std::move(share.drafts);
  for (Finding& finding : release.findings) {
    drafts.push_back(core::finding_row(std::move(finding), subject()));
  }
  if (!drafts.empty()) {
    for (core::Fact& fact : share.facts) drafts.back().facts.push_back(std::move(fact));
    const auto written = co_await parts_.recorder.append(drafts, core::Urgency::Reports);
    if (!written) co_return "";  // nothing is shown of which there is no record
  }
  if (release.verdict == Verdict::Kind::Deny) co_return "";
  co_return release.released.to_result().output;
}

Async<void> Memory::ingest(std::uint64_t revision, std::string task, std::string answer) {
  const Subject subject = this->subject();
  const Result<void> emitted = co_await parts_.events.emit(
      event::MemoryIngestStarted{.agent_id = asker_.agent_id, .source_revision = revision},
      subject);
  if (!emitted) co_return;
  sessions::MemoryRecord record{
      .id = fmt::format("episode:{}:{}:{}", asker_.agent_id, asker_.session_id, revision),
      .agent_id = asker_.agent_id,
      .text = fmt::format("Task: {}\nAnswer: {}",
                          cut_utf8_bytes(redacted(std::move(task)), kLongestPart),
                          cut_utf8_bytes(redacted(std::move(answer)), kLongestPart))};
  const Raced<Result<std::size_t>> stored =
      co_await race(on_store(parts_,
                             [session = asker_.session_id, revision,
                              record = std::move(record)](sessions::SessionStore& store) {
                               return store.ingest(session, revision, record);
                             }),
                    std::chrono::steady_clock::now() + kIngestTime, {});
  event::MemoryIngestFinished finished{.agent_id = asker_.agent_id, .source_revision = revision};
  if (!stored.value) {
    finished.error = fmt::format("it took longer than {} s", kIngestTime.count());
  } else if (!*stored.value) {
    finished.error = stored.value->error().message;
  } else {
    finished.success = true;
    finished.stored_records = **stored.value;
  }
  (void)co_await parts_.events.emit(std::move(finished), subject);
}

}  // namespace sallyport::agent
