#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/tool/own_tool.h"
#include "agent/tool/redacted_text.h"
#include "agent/tool/tool_families.h"
#include "agent/tool/tool_output.h"
#include "agent/tool/tool_schema.h"
#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/on_pool.h"
#include "base/try.h"
#include "base/uuid.h"

namespace sallyport::agent {

namespace {

using sessions::MemoryRecord;
using Records = Result<std::vector<MemoryRecord>>;

constexpr std::uint64_t kMostRecords = 50;
constexpr std::size_t kLongestQuestion = 4'096;
constexpr std::size_t kLongestPin = 16 * 1024;

class MemorySearch final : public OwnTool {
 public:
  using OwnTool::OwnTool;

 protected:
  Task<Envelope> answer(Call call, std::stop_token cancel) override {
    const json::object& input = call.input.as_object();
    const std::string query = cut_utf8_bytes(text_or_empty(input, "query"), kLongestQuestion);
    const std::uint64_t limit = std::clamp<std::uint64_t>(
        number_in(input, "limit").value_or(context()->settings.memory.limit), 1, kMostRecords);
    core::HostEvents& events = context()->parts.events;
    SALLYPORT_CO_CHECK_OK(co_await events.emit(
        event::MemorySearchStarted{call.agent_id, limit,
                                   redacted_text(context()->parts.redactor, query)},
        subject_of(call)));
    const Records found = co_await search(call.agent_id, query, limit, std::move(cancel));
    event::MemorySearchFinished finished{.agent_id = call.agent_id,
                                         .success = found.has_value(),
                                         .result_count = found ? found->size() : 0};
    if (!found) finished.error = found.error().message;
    (void)co_await events.emit(std::move(finished), subject_of(call));
    if (!found) co_return std::unexpected(found.error());
    co_return answer_of(*found);
  }

 private:
  Async<Records> search(std::string agent_id, std::string query, std::uint64_t limit,
                        std::stop_token cancel) const {
    co_return co_await on_pool<Records>(
        context()->parts.pool, [context = context(), agent_id, query, limit, cancel] {
          return context->parts.store.search(agent_id, query, limit,
                                             context->settings.memory.timeout, cancel);
        });
  }

  static Envelope answer_of(const std::vector<MemoryRecord>& found) {
    std::string text = found.empty() ? "[nothing is remembered of that]" : "";
    json::array ids;
    for (const MemoryRecord& record : found) {
      text += fmt::format("[{} of {}]\n{}\n", record.id, record.created_at, record.text);
      ids.emplace_back(record.id);
    }
    return text_and_data(true,
                         cut_with_hint(text, "ask for fewer records or search for other words"),
                         {{"records", std::move(ids)}});
  }
};

// Keeps a text for all later sessions of the agent, without its secrets.
class MemoryPin final : public OwnTool {
 public:
  using OwnTool::OwnTool;

 protected:
  Task<Envelope> answer(Call call, std::stop_token) override {
    const ToolParts& parts = context()->parts;
    std::string text = text_or_empty(call.input.as_object(), "text");
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      co_return fail(ErrorCode::InvalidInput, "`text` is empty", "text");
    }
    if (text.size() > kLongestPin) {
      co_return fail(ErrorCode::InvalidInput,
                     fmt::format("`text` is longer than {} bytes", kLongestPin), "text");
    }
    const MemoryRecord record{.id = "pin:" + uuid7_text(parts.clock, parts.entropy),
                              .agent_id = call.agent_id,
                              .text = redacted_text(parts.redactor, std::move(text)),
                              .pinned = true,
                              .created_at = rfc3339(parts.clock.wall())};
    SALLYPORT_CO_CHECK_OK(co_await on_pool<Result<void>>(
        parts.pool, [context = context(), record] { return context->parts.store.pin(record); }));
    co_return text_and_data(true, fmt::format("kept as `{}`", record.id),
                            {{"record_id", record.id}});
  }
};

class MemoryForget final : public OwnTool {
 public:
  using OwnTool::OwnTool;

 protected:
  Task<Envelope> answer(Call call, std::stop_token) override {
    const std::string id = text_or_empty(call.input.as_object(), "record_id");
    SALLYPORT_CO_TRY(const bool gone,
                     co_await on_pool<Result<bool>>(
                         context()->parts.pool, [context = context(), agent = call.agent_id, id] {
                           return context->parts.store.forget(agent, id);
                         }));
    if (!gone) {
      co_return fail(ErrorCode::NotFound, fmt::format("there is no record `{:.80}`", id));
    }
    co_return text_and_data(true, fmt::format("`{:.80}` is forgotten", id), {{"record_id", id}});
  }
};

}  // namespace

std::vector<ToolEntry> memory_tools(const SharedContext& context) {
  const OfferedTool search{
      .name = "memory_search",
      .description = "Searches the memory of earlier runs by words.",
      .schema = schema_of({{"query", InputType::Text, "words, any of which may occur", true},
                           {"limit", InputType::Count, "the maximum number of records"}})};
  std::vector<ToolEntry> tools{{search, true, std::make_shared<MemorySearch>(context, search)}};
  if (!context->settings.memory.edit) return tools;
  const OfferedTool pin{.name = "memory_pin",
                        .description = "Keeps a text for later sessions.",
                        .schema = schema_of({{"text", InputType::Text, "what to remember", true}})};
  const OfferedTool forget{
      .name = "memory_forget",
      .description = "Removes a record that memory_search showed.",
      .schema = schema_of({{"record_id", InputType::Text, "the id of the record", true}})};
  tools.push_back({pin, false, std::make_shared<MemoryPin>(context, pin)});
  tools.push_back({forget, false, std::make_shared<MemoryForget>(context, forget)});
  return tools;
}

}  // namespace sallyport::agent
