#include "mcp/call/call_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/uuid.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kExtension = "io.modelcontextprotocol/tasks";
constexpr std::string_view kPrefix = "sallyport-task-";
constexpr std::string_view kSpace = "mcp_task";  // id: its owner, and what it waits for
constexpr int kPollMilliseconds = 2000;

// The task of a process that has ended. Its call does not continue on its own.
json::object lost_task(const json::object& stored) {
  const std::string message = fmt::format(
      "the gateway that held this call has ended; look at `sallyport approvals show {}`"
      " for what became of it, or make the call again",
      text_in(stored, "approval_id").value_or(""));
  return {{"status", "failed"},
          {"createdAt", stored.at("created_at")},
          {"lastUpdatedAt", stored.at("created_at")},
          {"ttlMs", nullptr},
          {"error", json::object{{"code", kApprovalOver}, {"message", message}}}};
}

bool is_our_task(const json::value& id) {
  return id.is_string() && std::string_view(id.get_string()).starts_with(kPrefix);
}

// The `notifications` of a subscription; null: missing.
const json::object* wanted_by(const Message& listen) {
  const json::object* const params = listen.params();
  return params ? object_in(*params, "notifications") : nullptr;
}

// The tasks that a subscription names.
json::array tasks_in(const json::object& wanted) {
  const json::value* const tasks = wanted.if_contains("taskIds");
  return tasks != nullptr && tasks->is_array() ? tasks->get_array() : json::array();
}

}  // namespace

bool wants_our_tasks_alone(const Message& request) {
  const json::object* const wanted = wanted_by(request);
  const json::array tasks = wanted ? tasks_in(*wanted) : json::array();
  return wanted != nullptr && wanted->size() == 1 && !tasks.empty() &&
         std::ranges::all_of(tasks, is_our_task);
}

std::string CallTasks::for_server(const std::string& listen) const {
  const auto wanted = find(listen, {"params", "notifications"});
  const Result<ParsedJson> read = parse_json(wanted.value_or("null"));
  if (!read || !read->value.is_object() || !read->value.get_object().contains("taskIds")) {
    return listen;
  }
  json::array own = tasks_in(read->value.get_object());
  const auto kept_back = [&](const json::value& id) {
    return is_our_task(id) || !id.is_string() ||
           context_.owners.is_foreign(std::string(id.get_string()));
  };
  own.erase(std::remove_if(own.begin(), own.end(), kept_back), own.end());
  const std::string left = own.empty() ? without_member(*wanted, "taskIds")
                                       : with_member(*wanted, "taskIds", json::serialize(own));
  return edited(listen, {{*wanted, left}});
}

bool declares_tasks(const json::object& capabilities) {
  const json::object* const extensions = object_in(capabilities, "extensions");
  return extensions != nullptr && extensions->contains(kExtension);
}

std::string offering_tasks(std::string discovery) {
  std::string capabilities(find(discovery, {"capabilities"}).value_or("{}"));
  std::string extensions(find(capabilities, {"extensions"}).value_or("{}"));
  if (!capabilities.starts_with('{') || !extensions.starts_with('{')) return discovery;
  if (find(extensions, {kExtension})) return discovery;
  extensions = with_member(extensions, kExtension, "{}");
  return with_member(discovery, "capabilities",
                     with_member(capabilities, "extensions", extensions));
}

Async<bool> CallTasks::give(CallDesk::Held call) {
  const GatewayParts& parts = context_.parts;
  context_.desk.forget_old(HeldCall::State::Task, parts.clock.steady());
  const auto given = context_.desk.count(HeldCall::State::Task, HeldCall::State::Task);
  if (given >= context_.settings.limits.waiting_calls) co_return false;
  const std::string client_id = call->client_id();
  const std::string id = std::string(kPrefix) + uuid7_text(parts.clock, parts.entropy);
  const std::string now = rfc3339(parts.clock.wall());
  const json::object kept{{"owner", context_.settings.agent_id},
                          {"approval_id", call->waits->approval_id},
                          {"created_at", now}};
  std::vector<core::Draft> drafts;
  drafts.push_back(
      {.kind = core::Kind::Approval,
       .subject = context_.subject(call->waits->call_id),
       .body = {{"record", "mcp_task"}, {"request_id", call->waits->approval_id}, {"task_id", id}},
       .facts = {{std::string(kSpace), id, canonical_json(kept)}}});
  const auto written = co_await parts.recorder.append(std::move(drafts), core::Urgency::Announces);
  if (!written) co_return false;
  // Answered or cancelled meanwhile.
  if (call->client_id() != client_id || call->cancelled) co_return true;
  if (!context_.desk.move(call, HeldCall::State::Task, id)) co_return true;
  call->task_id = id;
  call->task_made = call->task_changed = now;
  call->task_until = parts.clock.steady() + lifetime();
  json::object task = to_json(*call);
  task["resultType"] = "task";
  context_.client.send(
      bridge_.translated("tools/call", result_text(client_id, json::serialize(task))));
  co_return true;
}

// The time for people to answer, for the call to run, and for the client to fetch the result.
std::chrono::milliseconds CallTasks::lifetime() const {
  const std::shared_ptr<const core::Plan> plan = context_.parts.plans.current();
  return plan->approval_time() + plan->time_limit() + context_.settings.limits.parked;
}

json::object CallTasks::to_json(const HeldCall& call) const {
  std::string_view status = "working";
  std::string message = "no longer waiting for a person";
  if (call.waits) {
    message = fmt::format("waiting for a person to approve `{}` ({})", call.call.tool,
                          call.waits->approval_id);
  }
  if (!call.response.empty()) {
    status = find(call.response, {"error"}) ? "failed" : "completed";
    message = "ended";
  }
  if (call.cancelled) {
    status = "cancelled";
    message = "cancelled";
  }
  return {{"taskId", call.task_id},
          {"status", status},
          {"statusMessage", message},
          {"createdAt", call.task_made},
          {"lastUpdatedAt", call.task_changed},
          {"ttlMs", lifetime().count()},
          {"pollIntervalMs", kPollMilliseconds}};
}

bool CallTasks::is_ours(const Message& request) const {
  return context_.client.era() == Era::Modern && request.method.starts_with("tasks/") &&
         task_named_by(request).starts_with(kPrefix);
}

// A server that has not opened does not say yet whether it has tasks.
bool CallTasks::needs_opening(const Message& request) const {
  return context_.client.era() == Era::Modern && request.method.starts_with("tasks/") &&
         !context_.server.opening().ready() && !is_ours(request) &&
         !declares_tasks(context_.client.profile().capabilities);
}

// A server that has no tasks is not said to lack this one.
std::string CallTasks::refusal(const Message& request) const {
  const ServerOpening& opening = context_.server.opening();
  const bool ours = is_ours(request);
  if ((!opening.ready() && !ours) || !request.method.starts_with("tasks/")) return {};
  const bool offered =
      opening.era() == Era::Modern
          ? find(opening.discovery(), {"capabilities", "extensions", kExtension}).has_value()
          : offers(opening.opening(), "tasks");
  if (context_.client.era() == Era::Modern && (ours || offered) &&
      !declares_tasks(context_.client.profile().capabilities)) {
    const json::object needed{{"extensions", json::object{{kExtension, json::object()}}}};
    return error_text(request.id, kMissingCapability,
                      "tasks are an extension that was not declared",
                      json::object{{"requiredCapabilities", needed}});
  }
  if (ours || offered || !context_.settings.serves_others) return {};
  return error_text(request.id, kMethodNotFound, "Method not found");
}

void CallTasks::answer(const Message& request) {
  const std::string id = task_named_by(request);
  const CallDesk::Held call = context_.desk.find(HeldCall::State::Task, id);
  const std::optional<json::object> gone = call ? std::nullopt : lost(id);
  if (!call && !gone) {
    return context_.client.refuse(request, kInvalidParams, "there is no such task");
  }
  if (request.method == "tasks/get") {
    return context_.client.send(result_text(
        request.id,
        with_member(gone ? json::serialize(*gone) : whole(*call), "resultType", R"("complete")")));
  }
  if (request.method != "tasks/cancel" && request.method != "tasks/update") {
    return context_.client.refuse(request, kMethodNotFound, "Method not found");
  }
  if (call && call->response.empty() && request.method == "tasks/cancel") {
    call->cancelled = true;
    notify(*call);
    call->stop.request_stop();
  }
  context_.client.send(result_text(request.id, R"({"resultType":"complete"})"));
}

// The task with its result or error.
std::string CallTasks::whole(const HeldCall& call) const {
  std::string text = json::serialize(to_json(call));
  for (const char* const member : {"result", "error"}) {
    const auto value = find(call.response, {member});
    if (value && !call.cancelled) text = with_member(text, member, *value);
  }
  return text;
}

json::array CallTasks::listen(const Message& request) {
  const json::object* const wanted = wanted_by(request);
  json::array granted;
  for (const json::value& id : wanted ? tasks_in(*wanted) : json::array()) {
    if (!is_our_task(id)) continue;
    const std::string name(id.get_string());
    if (!context_.desk.find(HeldCall::State::Task, name)) continue;
    if (context_.client.requests()[request.id].tasks.insert(name).second) granted.push_back(id);
  }
  return granted;
}

void CallTasks::notify(HeldCall& call) {
  if (call.task_id.empty()) return;
  call.task_changed = rfc3339(context_.parts.clock.wall());
  for (const auto& [listener, request] : context_.client.requests()) {
    if (request.tasks.contains(call.task_id)) send(listener, call);
  }
}

void CallTasks::notify_ended(const std::string& listener) {
  const auto found = context_.client.requests().find(listener);
  if (found == context_.client.requests().end()) return;
  for (const std::string& id : found->second.tasks) {
    const CallDesk::Held call = context_.desk.find(HeldCall::State::Task, id);
    if (call && (call->ended_at || call->cancelled)) send(listener, *call);
  }
}

void CallTasks::send(const std::string& listener, const HeldCall& call) {
  const std::string mark = fmt::format(R"({{"{}":{}}})", kMetaSubscription, listener);
  context_.client.send(
      notification_text("notifications/tasks", with_member(whole(call), "_meta", mark)), listener);
}

// A task that another process gave to the same principal.
std::optional<json::object> CallTasks::lost(const std::string& id) const {
  const auto stored = context_.parts.recorder.fact(kSpace, id);
  if (!stored || !*stored) return std::nullopt;
  const Result<json::value> value = parse_own_json(**stored);
  const json::object* const kept = value ? value->if_object() : nullptr;
  if (kept == nullptr || text_in(*kept, "owner") != context_.settings.agent_id) return std::nullopt;
  json::object task = lost_task(*kept);
  task["taskId"] = id;
  return task;
}

}  // namespace sallyport::mcp
