#include "agent/run/compaction.h"

#include <fmt/format.h>

#include "agent/run/history.h"
#include "base/try.h"
#include "sessions/session_store.h"

namespace sallyport::agent {

namespace {

constexpr std::uint64_t kAttempts = 3;  // RT-69
constexpr std::string_view kAsk =
    "Summarise the conversation so far for yourself. Keep the task, decisions, names of files and "
    "commands, results that later steps need, and what is left to do. Call no tool.";

std::unexpected<NoAnswer> no_summary(std::string why) {
  return std::unexpected(
      NoAnswer{.error = RuntimeError{RuntimeError::Kind::StreamResponse, std::move(why)}});
}

}  // namespace

bool Compaction::due(std::span<const sessions::Item> items,
                     std::optional<std::uint64_t> reported) const {
  if (given_up_) return false;
  const CompactionSettings& settings = parts_.settings.compaction;
  if (reported.value_or(estimated_tokens(items)) <= settings.at_tokens) return false;
  return replaceable(items, settings.keep_items) > 0;
}

void Compaction::give_up(std::string_view why) {
  given_up_ = true;
  parts_.runtime.log(
      fmt::format("session {} continues without compaction: {}", parts_.asker.session_id, why));
}

Async<std::optional<Abort>> Compaction::run(std::vector<sessions::Item> items,
                                            std::uint64_t revision,
                                            std::function<Async<void>()> before_swap) {
  const std::size_t replaced = replaceable(items, parts_.settings.compaction.keep_items);
  const Result<std::string> snapshot = co_await on_store(
      parts_.runtime, [lease = parts_.lease.lease(),
                       folder = parts_.runtime.data_folder / sessions::kSnapshotFolder](
                          sessions::SessionStore& store) { return store.snapshot(lease, folder); });
  if (!snapshot) {
    give_up(snapshot.error().message);
    co_return std::nullopt;
  }
  items.resize(replaced);
  std::expected<std::string, NoAnswer> text = co_await summary(std::move(items));
  if (!text && text.error().abort) co_return text.error().abort;
  if (!text) {
    give_up(text.error().error->message);
    co_return std::nullopt;
  }
  co_await before_swap();
  const std::filesystem::path file = std::filesystem::path(*snapshot).filename();
  co_await swap(revision, replaced, std::move(*text),
                fmt::format("{}/{}", sessions::kSnapshotFolder, file.string()));
  co_return std::nullopt;
}

Async<std::expected<std::string, NoAnswer>> Compaction::summary(std::vector<sessions::Item> older) {
  ModelRequest request{.purpose = Purpose::Summary,
                       .model = parts_.settings.model.model,
                       .system = parts_.settings.system,
                       .history = std::move(older),
                       .max_output_tokens = parts_.settings.model.max_output_tokens};
  const sessions::NewItem ask = user_message(kAsk);
  request.history.push_back({.role = ask.role, .content = ask.content});
  ModelRound model_round(
      parts_.runtime, parts_.model, parts_.control, parts_.asker,
      {.retry = {.attempts = kAttempts, .jitter = parts_.settings.retry_jitter}});
  std::expected<ModelAnswer, NoAnswer> answer = co_await model_round.run(std::move(request));
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  if (answer->at_limit) co_return no_summary("the summary was cut at its output limit");
  if (answer->text.find_first_not_of(" \t\r\n") == std::string::npos) {
    co_return no_summary("the model gave no summary");
  }
  co_return std::move(answer->text);
}

Async<void> Compaction::swap(std::uint64_t revision, std::size_t replaced, std::string text,
                             std::string snapshot) {
  const std::string& agent = parts_.asker.agent_id;
  const Result<void> proposed = co_await parts_.runtime.events.emit(
      event::MemoryCompactionProposed{
          .agent_id = agent, .base_revision = revision, .transcript_path = std::move(snapshot)},
      subject());
  if (!proposed) co_return give_up(proposed.error().message);
  struct Swapped {
    bool done = false;
    std::size_t length = 0;
  };
  const Result<Swapped> swapped = co_await on_store(
      parts_.runtime,
      [lease = parts_.lease.lease(), revision, replaced,
       item = summary_item(text)](sessions::SessionStore& store) -> Result<Swapped> {
        Swapped result;
        SALLYPORT_TRY(result.done, store.compact(lease, revision, replaced, item, result.length));
        return result;
      });
  if (!swapped || !swapped->done) {
    (void)co_await parts_.runtime.events.emit(
        event::MemoryCompactionSkipped{.agent_id = agent, .base_revision = revision}, subject());
    if (!swapped) give_up(swapped.error().message);
    co_return;
  }
  (void)co_await parts_.runtime.events.emit(
      event::MemoryCompactionApplied{
          .agent_id = agent, .base_revision = revision, .resulting_history_len = swapped->length},
      subject());
  const Result<std::size_t> pruned = co_await on_store(
      parts_.runtime,
      [lease = parts_.lease.lease(),
       folder = parts_.runtime.data_folder / sessions::kSnapshotFolder,
       keep = parts_.settings.compaction.keep_snapshots](sessions::SessionStore& store) {
        return store.prune_snapshots(lease, folder, keep);
      });
  if (!pruned) parts_.runtime.log("old snapshots stay: " + pruned.error().message);
}

}  // namespace sallyport::agent
