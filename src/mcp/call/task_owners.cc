#include "mcp/call/task_owners.h"

#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kOwnerSpace = "mcp_server_task";  // digest of server and id: the agent

std::string text_at(std::optional<std::string_view> part) {
  const Result<ParsedJson> read = parse_json(part.value_or("null"));
  return read && read->value.is_string() ? std::string(read->value.get_string()) : "";
}

// Empty: none is given. An answer with `content` is a result of the tool, which names no task.
std::string task_given_by(std::string_view answer) {
  if (find(answer, {"result", "content"})) return {};
  const bool stateless = find(answer, {"result", "resultType"}) == "\"task\"";
  return text_at(stateless ? find(answer, {"result", "taskId"})
                           : find(answer, {"result", "task", "taskId"}));
}

}  // namespace

bool gives_task(std::string_view answer) {
  return !task_given_by(answer).empty();
}

// Digested, because servers may choose ids of any length.
std::string TaskOwners::key_of(std::string_view task) const {
  return hex(sha256(canonical_json(json::array{server_, task})));
}

Task<void> TaskOwners::note(std::string answer, Subject call) {
  const std::string task = server_.empty() ? std::string() : task_given_by(answer);
  if (task.empty()) co_return Result<void>{};
  const std::string key = key_of(task);
  SALLYPORT_CO_TRY(const auto owner, records_.fact(kOwnerSpace, key));
  if (owner) co_return Result<void>{};
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Topic,
                    .subject = std::move(call),
                    .topic = "server_tasks",
                    .body = {{"kind", "task_given"}, {"task", key}},
                    .facts = {{std::string(kOwnerSpace), key, agent_}}});
  const auto written = co_await records_.append(std::move(drafts), core::Urgency::Announces,
                                                {{std::string(kOwnerSpace), key, std::nullopt}});
  // `Conflict`: another process has noted an owner meanwhile.
  if (!written && written.error().code != ErrorCode::Conflict) {
    co_return std::unexpected(written.error());
  }
  co_return Result<void>{};
}

bool TaskOwners::is_foreign(const std::string& task) const {
  if (task.empty() || server_.empty()) return false;
  const auto owner = records_.fact(kOwnerSpace, key_of(task));
  return !owner || *owner != agent_;
}

std::string TaskOwners::without_foreign(std::string_view result) const {
  const auto tasks = find(result, {"tasks"});
  if (!tasks || server_.empty()) return std::string(result);
  bool all = true;
  std::string kept = "[";
  for (const std::string_view task : elements(*tasks)) {
    const std::string id = text_at(find(task, {"taskId"}));
    if (id.empty() || is_foreign(id)) {
      all = false;
      continue;
    }
    if (kept.size() > 1) kept += ',';
    kept += task;
  }
  return all ? std::string(result) : edited(result, {{*tasks, kept + ']'}});
}

}  // namespace sallyport::mcp
