#include "agent/run/compaction.h"

#include <fmt/format.h>

#include "agent/run/history.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

constexpr std::string_view kFolder = "transcripts";
constexpr std::uint64_t kAttempts = 3;  // RT-69
constexpr std::string_view kAsk =
    "Summarise the conversation so far for yourself. Keep the task, decisions, names of files and "
    "commands, results that later steps need, and what is left to do. Call no tool.";

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
      parts_.runtime, [lease = parts_.hold.lease(), folder = parts_.runtime.data_folder / kFolder](
                          sessions::SessionStore& store) { return store.snapshot(lease, folder); });
  if (!snapshot) {
    give_up(snapshot.error().message);
    co_return std::nullopt;
  }
  items.resize(replaced);
  std::expected<std::string, NoAnswer> text = co_await summary(std::move(items));
  if (!text && text.error().abort) co_return text.error().abort;
  if (!text || text->empty()) {
    give_up(text ? "the model gave no summary" : text.error().error->message);
    co_return std::nullopt;
  }
  co_await before_swap();
  const std::filesystem::path file = std::filesystem::path(*snapshot).filename();
  co_await swap(revision, replaced, std::move(*text), fmt::format("{}/{}", kFolder, file.string()));
  co_return std::nullopt;
}

Async<std::expected<std::string, NoAnswer>> Compaction::summary(std::vector<sessions::Item> older) {
  ModelRequest request{.purpose = Purpose::Summary,
                       .model = parts_.settings.model.model,
                       .system = parts_.settings.system,
                       .history = std::move(older),
                       .max_output_tokens = parts_.settings.model.max_output_tokens};
  const sessions::NewItem ask = said_by_user(kAsk);
  request.history.push_back({.role = ask.role, .content = ask.content});
  ModelExchange exchange(
      parts_.runtime, parts_.model, parts_.control, parts_.asker,
      {.retry = {.attempts = kAttempts, .jitter = parts_.settings.retry_jitter}});
  std::expected<ModelAnswer, NoAnswer> answer = co_await exchange.run(std::move(request));
  if (!answer) co_return std::unexpected(std::move(answer.error()));
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
      [lease = parts_.hold.lease(), revision, replaced,
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
      [lease = parts_.hold.lease(), folder = parts_.runtime.data_folder / kFolder,
       keep = parts_.settings.compaction.keep_snapshots](sessions::SessionStore& store) {
        return store.prune_snapshots(lease, folder, keep);
      });
  if (!pruned) parts_.runtime.log("old snapshots stay: " + pruned.error().message);
}

}  // namespace sallyport::agent
